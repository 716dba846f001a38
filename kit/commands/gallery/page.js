/* Videos play while they are seen; the menu marks where one is. Without it all can be read and played. */
"use strict";
(() => {
const root = document.documentElement, nav = document.querySelector("nav");
const all = (query, within = document) => [...within.querySelectorAll(query)];
const videos = all("video"), seen = new Set(), held = new Set();
const prefers = query => matchMedia(query).matches;
let moving = !(prefers("(prefers-reduced-motion: reduce)")
  || prefers("(prefers-reduced-data: reduce)") || navigator.connection?.saveData);
root.classList.add("js");

const button = (kind, label, parent) => {
  const made = document.createElement("button");
  made.type = "button"; made.className = kind; made.textContent = label;
  parent.append(made);
  return made;
};
const hold = (video, on) => {
  held[on ? "add" : "delete"](video);
  video.parentNode.classList.toggle("held", on);
};
const start = video => video.play().catch(error => {
  if (error.name !== "AbortError") hold(video, true);
});
const attend = video => {
  const wanted = seen.has(video) && moving && !held.has(video);
  if (wanted && video.paused) start(video);
  if (!seen.has(video) && !video.paused) video.pause();
};

const watching = new IntersectionObserver(found => found.forEach(({target, isIntersecting}) => {
  seen[isIntersecting ? "add" : "delete"](target);
  attend(target);
}), {threshold: .3});

const sounding = video => {
  const switched = button("tool sound", "", video.parentNode);
  const say = () => {
    switched.setAttribute("aria-pressed", String(!video.muted));
    switched.setAttribute("aria-label", "Sound of " + video.getAttribute("aria-label"));
    switched.textContent = video.muted ? "Sound" : "Sound on";
  };
  switched.addEventListener("click", () => {
    video.muted = !video.muted;
    if (!video.muted) { hold(video, false); start(video); }
  });
  video.addEventListener("volumechange", () => {
    if (!video.muted) videos.forEach(other => { if (other !== video) other.muted = true; });
    say();
  });
  say();
};

videos.forEach(video => {
  const frame = video.parentNode;
  video.controls = false; video.tabIndex = 0; video.muted = true;
  /* The poster goes as soon as a video is asked to play; its first frame may come later. */
  if (video.poster) video.style.background = `center / 100% 100% url("${video.poster}")`;
  const show = on => { video.controls = on || document.activeElement === video; };
  frame.addEventListener("pointerenter", () => show(true));
  frame.addEventListener("pointerleave", event => {
    if (event.pointerType !== "touch") show(false);
  });
  video.addEventListener("focus", () => show(true));
  video.addEventListener("blur", () => { video.controls = frame.matches(":hover"); });
  const play = button("play", "", frame);
  play.setAttribute("aria-label", "Play " + video.getAttribute("aria-label"));
  play.addEventListener("click", () => { hold(video, false); start(video); video.focus(); });
  video.addEventListener("play", () => { hold(video, false); frame.classList.add("playing"); });
  video.addEventListener("pause", () => {
    if (!video.paused) return; /* It goes on already: events come after the fact. */
    frame.classList.remove("playing");
    /* What a reader has stopped stays so; what was only out of sight goes on. */
    if (seen.has(video) && moving && !document.hidden && !video.seeking) hold(video, true);
  });
  if ("sound" in frame.dataset) sounding(video);
  watching.observe(video);
});

all("[data-before]").forEach(frame => {
  const source = document.getElementById(frame.dataset.before)?.querySelector("img");
  if (!source) return;
  const compare = button("tool before", "Before", frame);
  compare.title = "Hold to see the input";
  const show = on => {
    if (on && !frame.querySelector(".under")) {
      const under = new Image();
      under.className = "under"; under.alt = ""; under.src = source.src;
      frame.append(under);
    }
    frame.classList.toggle("comparing", on);
    compare.setAttribute("aria-pressed", String(on));
  };
  show(false);
  compare.addEventListener("pointerdown", event => {
    show(true); compare.setPointerCapture(event.pointerId);
  });
  ["pointerup", "pointercancel", "blur", "keyup"].forEach(end =>
    compare.addEventListener(end, () => show(false)));
  compare.addEventListener("keydown", event => {
    if (event.key === " " || event.key === "Enter") { event.preventDefault(); show(true); }
  });
  compare.addEventListener("contextmenu", event => event.preventDefault());
});

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) videos.forEach(attend);
});

if (videos.length) {
  const motion = button("motion", "", nav);
  const say = () => {
    motion.textContent = moving ? "Pause videos" : "Play videos";
    root.classList.toggle("resting", !moving);
  };
  motion.addEventListener("click", () => {
    moving = !moving;
    if (moving) { held.clear(); all(".held").forEach(frame => frame.classList.remove("held")); }
    videos.forEach(video => {
      if (!moving && !video.paused) video.pause();
      attend(video);
    });
    say();
  });
  say();
}

const menu = nav.querySelector("details"), here = nav.querySelector(".here");
const wide = matchMedia("(min-width: 68rem)");
const fold = () => { menu.open = wide.matches; };
wide.addEventListener("change", fold); fold();
/* Folding has moved what the address leads to. */
const led = location.hash && document.getElementById(location.hash.slice(1));
if (led) led.scrollIntoView({behavior: "instant"});
menu.addEventListener("click", event => {
  if (event.target.closest("a") && !wide.matches) menu.open = false;
});
document.addEventListener("keydown", event => {
  if (event.key === "Escape" && menu.open && !wide.matches) {
    menu.open = false; menu.querySelector("summary").focus();
  }
});
document.addEventListener("click", event => {
  if (!nav.contains(event.target) && !wide.matches) menu.open = false;
});
const links = new Map(all("a", menu).map(link => [link.hash.slice(1), link]));
const mark = link => {
  links.forEach(other => other.removeAttribute("aria-current"));
  link.setAttribute("aria-current", "true");
  here.textContent = link.textContent;
  const low = link.offsetTop + link.offsetHeight - nav.clientHeight;
  if (link.offsetTop < nav.scrollTop || low > nav.scrollTop) nav.scrollTop = Math.max(0, low + 40);
};
/* A section is where one is while it covers a line below the top of the window. */
const passing = new IntersectionObserver(found => found.forEach(({target, isIntersecting}) => {
  const link = links.get(target.id);
  if (isIntersecting && link) mark(link);
}), {rootMargin: "-25% 0px -74% 0px"});
all("main>section").forEach(part => passing.observe(part));
})();
