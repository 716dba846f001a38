"""How the page looks: light and dark by the reader's system, and rows of pictures of one height."""

from __future__ import annotations

# Cards are as wide as their pictures are beside their height, so that a row fits without cropping.
CSS = """
:root{color-scheme:light dark;--ground:#f7f6f3;--card:#fff;--ink:#1c1b19;--faint:#66625b;
--line:#e2dfd8;--accent:#b4451f;--chip:#ece9e2;--bad:#b3261e;--bad-ground:#fdeceb;
--check:#e9e7e2;--check2:#fbfaf8}
@media (prefers-color-scheme:dark){:root{--ground:#141416;--card:#1d1d20;--ink:#ecebe8;
--faint:#a3a09a;--line:#323236;--accent:#ff9d73;--chip:#2a2a2e;--bad:#ff8a80;
--bad-ground:#3a1d1c;--check:#2b2b2f;--check2:#232327}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;scroll-padding-top:4.5rem}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0;background:var(--ground);color:var(--ink);
font:16px/1.55 ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
a{color:inherit;text-underline-offset:.2em}
a:focus-visible,summary:focus-visible,video:focus-visible{outline:2px solid var(--accent);
outline-offset:2px}
.skip{position:absolute;left:-999px}.skip:focus{left:1rem;top:1rem;z-index:3;
background:var(--card);padding:.5rem 1rem}
.top,main,footer{max-width:84rem;margin:0 auto;padding:0 clamp(1rem,4vw,3rem)}
.top{padding-top:clamp(2rem,6vw,4.5rem)}
h1{margin:0;font-size:clamp(2rem,5vw,3.4rem);line-height:1.05;letter-spacing:-.03em}
.top p{margin:.8rem 0 1.4rem;color:var(--faint)}
nav{position:sticky;top:0;z-index:2;background:color-mix(in srgb,var(--ground) 88%,transparent);
backdrop-filter:blur(10px);border-block:1px solid var(--line);overflow-x:auto}
nav ul{display:flex;gap:.35rem;margin:0;padding:0;list-style:none;align-items:center;
white-space:nowrap}
nav>ul{max-width:84rem;margin:0 auto;padding:.55rem clamp(1rem,4vw,3rem);gap:1.4rem}
nav>ul>li{display:flex;align-items:center;gap:.6rem}
nav span{font-size:.75rem;color:var(--faint)}
nav a{display:block;padding:.2rem .7rem;border-radius:99px;font-size:.875rem;
text-decoration:none}
nav a:hover{background:var(--chip)}
section{padding:clamp(2.2rem,5vw,3.6rem) 0 0}
h2{margin:0;font-size:clamp(1.4rem,2.6vw,1.9rem);letter-spacing:-.02em;line-height:1.15}
.facts{display:flex;flex-wrap:wrap;gap:.4rem;margin:.7rem 0 .8rem;font-size:.8125rem}
.facts>*{padding:.12rem .6rem;border-radius:99px;background:var(--chip);color:var(--faint);
font-size:.8125rem}
.facts code{color:var(--ink)}
code{font:.875em/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.about{max-width:46rem;margin:0 0 1.3rem}
.cards{display:flex;flex-wrap:wrap;gap:1.4rem 1rem;--row:14rem}
.cards::after{content:"";flex:1000 0 0}
figure{margin:0;flex:calc(var(--ratio,1)*100) 1 max(8.5rem,calc(var(--ratio,1)*var(--row)));
max-width:max(10rem,calc(var(--ratio,1)*var(--row)*1.45));min-width:0}
figure>img,figure>video{display:block;width:100%;height:auto;aspect-ratio:var(--ratio);
object-fit:contain;border-radius:8px;background:
repeating-conic-gradient(var(--check) 0 25%,var(--check2) 0 50%) 0 0/20px 20px}
figure>video{background:#000}
figcaption{display:flex;flex-direction:column;gap:.1rem;padding:.55rem .1rem 0;font-size:.875rem;
line-height:1.4;overflow-wrap:anywhere}
figcaption strong{font-weight:600}
q{color:var(--ink)}
figcaption small,.from{color:var(--faint);font-size:.8125rem;font-variant-numeric:tabular-nums}
.error{border:1px solid var(--bad);background:var(--bad-ground);color:var(--bad);
border-radius:8px;padding:1rem;min-height:9rem}
.error p{margin:.3rem 0 0}
.failed{flex:1 1 16rem;max-width:26rem}
#inputs .about{margin-top:.6rem}
.inputs{--row:9rem}.inputs figure{flex:0 1 13rem;max-width:16rem}
.inputs figure>img,.inputs figure>video{aspect-ratio:auto}
audio{width:100%}
details{margin-top:1.4rem}
summary{cursor:pointer;color:var(--faint);font-size:.875rem;width:fit-content;
padding:.2rem 0}
summary:hover{color:var(--ink)}
.wide{overflow-x:auto;margin-top:.5rem}
table{border-collapse:collapse;font-size:.8125rem;width:100%;min-width:44rem}
th,td{padding:.5rem 1rem .5rem 0;text-align:left;vertical-align:top;
border-top:1px solid var(--line);font-weight:400}
thead th{color:var(--faint);border-top:0}
td:nth-child(4){max-width:22rem;overflow-wrap:anywhere}
td:nth-child(2){white-space:nowrap}
em{font-style:normal;color:var(--accent)}
footer{color:var(--faint);font-size:.8125rem;padding-top:3rem;padding-bottom:3rem}
@media (max-width:36rem){.cards{--row:9.5rem}}
"""
