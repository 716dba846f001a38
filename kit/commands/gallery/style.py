"""How the page looks: light and dark by the reader's system, a mark of where one is, and print.

What is small and gray has a contrast of at least 4.5 to 1 on the page's ground.
"""

from __future__ import annotations

__all__ = ["CSS"]

_COLORS = """
:root{color-scheme:light dark;--ground:#f7f6f3;--card:#fff;--ink:#1c1b19;--faint:#66625b;
--line:#e2dfd8;--accent:#b4451f;--chip:#ece9e2;--mat:#eceae4;--bad:#b3261e;--bad-ground:#fdeceb;
--check:#e4e1da;--check2:#fbfaf8}
@media (prefers-color-scheme:dark){:root{--ground:#141416;--card:#1d1d20;--ink:#ecebe8;
--faint:#a3a09a;--line:#323236;--accent:#ff9d73;--chip:#2a2a2e;--mat:#1f1f22;--bad:#ff8a80;
--bad-ground:#3a1d1c;--check:#2b2b2f;--check2:#232327}}
"""

_TEXT = """
*{box-sizing:border-box}
html{scroll-behavior:smooth;scroll-padding-top:1rem}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0;background:var(--ground);color:var(--ink);
font:16px/1.55 ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
a{color:inherit;text-underline-offset:.2em;text-decoration-color:var(--faint)}
a:hover{text-decoration-color:currentcolor}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.skip{position:absolute;left:-999px}
.skip:focus{left:1rem;top:1rem;z-index:4;background:var(--card);padding:.5rem 1rem}
h1{margin:0;font-size:clamp(1.9rem,4.5vw,3rem);line-height:1.05;letter-spacing:-.03em}
h2{margin:0;font-size:clamp(1.35rem,2.4vw,1.75rem);letter-spacing:-.02em;line-height:1.15}
.top p{margin:.7rem 0 0;color:var(--faint)}
.top .hint{max-width:46rem;margin-top:.3rem;font-size:.875rem}
.facts{display:flex;flex-wrap:wrap;gap:.4rem;margin:.7rem 0 .8rem}
.facts>*{padding:.12rem .6rem;border-radius:99px;background:var(--chip);color:var(--faint);
font-size:.8125rem}
.facts code{color:var(--ink)}
code{font:.875em/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.about{max-width:46rem;margin:0 0 1.4rem}
#inputs .about{margin-top:.6rem}
em{font-style:normal;color:var(--accent)}
footer{color:var(--faint);font-size:.8125rem;padding:3rem 0}
"""

_NAVIGATION = """
nav{position:sticky;top:0;z-index:3;display:flex;align-items:flex-start;gap:1rem;
padding:.45rem clamp(1rem,4vw,3rem);border-bottom:1px solid var(--line);
background:color-mix(in srgb,var(--ground) 94%,transparent);backdrop-filter:blur(10px)}
nav details{flex:1;min-width:0}
nav summary{display:flex;gap:.6rem;align-items:baseline;width:auto;font-size:.9375rem;
line-height:1.9;color:var(--ink);font-weight:600;white-space:nowrap;list-style:none}
nav summary::-webkit-details-marker{display:none}
nav summary::before{content:"\\2630";font-weight:400}
nav [open]>summary::before{content:"\\2715"}
.here{overflow:hidden;text-overflow:ellipsis;color:var(--faint);font-weight:400}
nav ul{margin:0;padding:0;list-style:none}
.groups{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.4rem 1.5rem;
padding:.5rem 0 .8rem}
.js .groups{position:absolute;inset:100% 0 auto;max-height:calc(100vh - 3.5rem);overflow-y:auto;
padding:.6rem clamp(1rem,4vw,3rem) 1rem;background:var(--ground);
border-block:1px solid var(--line);box-shadow:0 1rem 2rem rgb(0 0 0/.18)}
.groups span{display:block;padding:.2rem .7rem;font-size:.75rem;color:var(--faint)}
.groups>li{margin-left:-.7rem}
nav a{display:block;padding:.22rem .7rem;border-radius:6px;font-size:.875rem;line-height:1.45;
text-decoration:none}
nav a:hover{background:var(--chip)}
nav a[aria-current]{background:var(--chip);font-weight:600;box-shadow:inset 3px 0 var(--accent)}
button{font:inherit;cursor:pointer}
.motion{flex:none;margin-top:.05rem;padding:.15rem .75rem;border:1px solid var(--line);
border-radius:99px;background:var(--card);color:var(--ink);font-size:.8125rem}
.motion:hover{border-color:var(--faint)}
main{padding:0 clamp(1rem,4vw,3rem)}
.top{padding-top:clamp(1.8rem,5vw,3.5rem)}
html:not(.js) nav{position:static}
@media not (min-width:68rem){html{scroll-padding-top:1.5rem}figure{scroll-margin-top:3.5rem}}
@media (min-width:68rem){
body{display:grid;grid-template-columns:14.5rem minmax(0,82rem);justify-content:center}
nav,html:not(.js) nav{position:sticky;align-self:start;height:100vh;overflow-y:auto;border:0;
flex-direction:column;align-items:stretch;padding:2.6rem 0 1.5rem 1.4rem;background:none;
backdrop-filter:none}
nav details{flex:none}
nav summary{display:none}
.groups{display:block;padding:0}
.js .groups{position:static;max-height:none;overflow:visible;padding:0;border:0;box-shadow:none;
background:none}
.groups>li+li{margin-top:.9rem}
.motion{align-self:flex-start}
main{padding:0 clamp(1.5rem,3vw,3rem)}}
"""

_CARDS = """
section{padding:clamp(2.4rem,5vw,4rem) 0 0}
.cards{display:grid;gap:1.7rem 1.1rem;
grid-template-columns:repeat(auto-fill,minmax(min(100%,var(--least)),1fr));--least:18rem}
.cards.square{--least:14.5rem}
.cards.tall{--least:12rem}
.inputs{--least:12rem;--shape:1.5}
figure{margin:0;min-width:0}
.frame{position:relative;display:grid;place-items:center;overflow:hidden;border-radius:10px;
aspect-ratio:var(--shape);background:var(--mat)}
.frame>img,.frame>video{display:block;aspect-ratio:var(--ratio,var(--shape));
width:calc(100%*min(1,var(--ratio,var(--shape))/var(--shape)))}
.made img,.given img{background:
repeating-conic-gradient(var(--check) 0 25%,var(--check2) 0 50%) 0 0/20px 20px}
.frame>video{background:#000}
.frame>video:focus-visible{outline-offset:-3px}
.given .frame{outline:1.5px dashed var(--faint);outline-offset:3px}
figure:target .frame{outline:3px solid var(--accent);outline-offset:3px}
figcaption{padding:.6rem .1rem 0;font-size:.875rem;line-height:1.45;overflow-wrap:anywhere}
figcaption p{margin:0 0 .15rem}
figcaption strong{font-weight:600}
.set{padding:.1em .4em;border-radius:5px;background:var(--chip);font-size:.8125rem;
-webkit-box-decoration-break:clone;box-decoration-break:clone}
.set span{color:var(--faint)}
.what .set{margin-right:.1rem}
.tag{padding:.1em .5em;border:1px solid currentcolor;border-radius:99px;color:var(--accent);
font-size:.6875rem;font-weight:600;letter-spacing:.04em;text-transform:uppercase}
.quiet{color:var(--faint);font-size:.75rem;font-variant-numeric:tabular-nums}
.error{border:1px solid var(--bad);background:var(--bad-ground);color:var(--bad);
border-radius:10px;padding:1rem;min-height:9rem}
.error p{margin:.3rem 0 0}
.frame>audio{display:block;width:94%}
.left,.right,.tool{position:absolute;padding:.1rem .55rem;border:0;border-radius:99px;
background:rgb(0 0 0/.62);color:#fff;font-size:.75rem;line-height:1.6}
.left{left:.5rem;bottom:.5rem}
.right{left:calc(50% + .5rem);bottom:.5rem}
.tool{right:.5rem;top:.5rem;z-index:1;touch-action:none;user-select:none}
.tool:hover,.tool[aria-pressed=true]{background:#000}
.frame>.under{position:absolute;display:none}
.comparing>.under{display:block}
@media (hover:hover){.before{opacity:0;transition:opacity .15s}
.frame:hover .before,.before:focus-visible{opacity:1}}
.play{position:absolute;display:none;width:3.2rem;height:3.2rem;padding:0;border:0;
border-radius:50%;background:rgb(0 0 0/.62)}
.play::before{content:"";position:absolute;left:1.2rem;top:.95rem;border-left:1.1rem solid #fff;
border-block:.65rem solid transparent}
.play:hover{background:#000}
.resting .frame:not(.playing) .play,.held:not(.playing) .play{display:block}
@media (max-width:36rem){.cards{gap:1.4rem .8rem}.cards.square,.cards.tall,.inputs{--least:9.5rem}}
"""

_TABLE = """
details{margin-top:1.4rem}
nav details{margin:0}
summary{cursor:pointer;color:var(--faint);font-size:.875rem;width:fit-content;padding:.2rem 0}
summary:hover{color:var(--ink)}
.wide-table{overflow-x:auto;margin-top:.5rem}
table{border-collapse:collapse;font-size:.8125rem;width:100%;min-width:40rem}
th,td{padding:.5rem 1rem .5rem 0;text-align:left;vertical-align:top;
border-top:1px solid var(--line);font-weight:400}
thead th{color:var(--faint);border-top:0}
td:nth-child(4){max-width:22rem;overflow-wrap:anywhere}
td:nth-child(2){white-space:nowrap}
"""

_PRINT = """
@media print{:root{color-scheme:light;--ground:#fff;--ink:#000;--faint:#555;--line:#ccc;
--chip:#f0f0f0;--mat:#f3f3f3;--check:#e4e1da;--check2:#fbfaf8;--accent:#8a3415}
body{display:block;font-size:10pt}
nav,.skip,.tool,.play,details{display:none}
main{padding:0}
.cards{--least:5.2cm;gap:.5cm .35cm}.cards.square,.cards.tall,.inputs{--least:3.6cm}
figure{break-inside:avoid}h2,.facts,.about{break-after:avoid}
.frame,.set,.facts>*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
"""

CSS = _COLORS + _TEXT + _NAVIGATION + _CARDS + _TABLE + _PRINT
