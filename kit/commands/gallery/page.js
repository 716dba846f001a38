/* Videos play while they are seen; the menu marks where one is. Without it all can be read and played. */
"use strict";
(() => {
const root = document.documentElement, nav = document.querySelector("nav");
const all = (query, within = document) => [...within.querySelectorAll(query)];
const videos = all("video"), visible = new Set(), paused = new Set();
const matches = query => matchMedia(query).matches;
let autoplay = !(matches("(prefers-reduced-motion: reduce)")
  || matches("(prefers-reduced-data: reduce)") || navigator.connection?.saveData);
root.classList.add("js");

const button = (kind, label, parent) => {
  const element = document.createElement("button");
  element.type = "button"; element.className = kind; element.textContent = label;
  parent.append(element);
  return element;
};
const setPaused = (video, on) => {
  paused[on ? "add" : "delete"](video);
  video.parentNode.classList.toggle("held", on);
};
const startVideo = video => video.play().catch(error => {
  if (error.name !== "AbortError") setPaused(video, true);
});
const updatePlayback = video => {
  const playing = visible.has(video) && autoplay && !paused.has(video);
  if (playing && video.paused) startVideo(video);
  if (!visible.has(video) && !video.paused) video.pause();
};

const videoObserver = new IntersectionObserver(found => found.forEach(({target, isIntersecting}) => {
  visible[isIntersecting ? "add" : "delete"](target);
  updatePlayback(target);
}), {threshold: .3});

const addSoundButton = video => {
  const toggle = button("tool sound", "", video.parentNode);
  const update = () => {
    toggle.setAttribute("aria-pressed", String(!video.muted));
    toggle.setAttribute("aria-label", "Sound of " + video.getAttribute("aria-label"));
    toggle.textContent = video.muted ? "Sound" : "Sound on";
  };
  toggle.addEventListener("click", () => {
    video.muted = !video.muted;
    if (!video.muted) { setPaused(video, false); startVideo(video); }
  });
  video.addEventListener("volumechange", () => {
    if (!video.muted) videos.forEach(other => { if (other !== video) other.muted = true; });
    update();
  });
  update();
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
  play.addEventListener("click", () => { setPaused(video, false); startVideo(video); video.focus(); });
  video.addEventListener("play", () => { setPaused(video, false); frame.classList.add("playing"); });
  video.addEventListener("pause", () => {
    if (!video.paused) return; /* It goes on already: events come after the fact. */
    frame.classList.remove("playing");
    /* What a reader has stopped stays so; what was only out of sight goes on. */
    if (visible.has(video) && autoplay && !document.hidden && !video.seeking) setPaused(video, true);
  });
  if ("sound" in frame.dataset) addSoundButton(video);
  videoObserver.observe(video);
});

all("[data-before]").forEach(frame => {
  const source = document.getElementById(frame.dataset.before)?.querySelector("img");
  if (!source) return;
  const compare = button("tool before", "Before", frame);
  compare.title = "Hold to see the input";
  const show = on => {
    if (on && !frame.querySelector(".under")) {
      const original = new Image();
      original.className = "under"; original.alt = ""; original.src = source.src;
      frame.append(original);
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
  if (!document.hidden) videos.forEach(updatePlayback);
});

if (videos.length) {
  const motion = button("motion", "", nav);
  const update = () => {
    motion.textContent = autoplay ? "Pause videos" : "Play videos";
    root.classList.toggle("resting", !autoplay);
  };
  motion.addEventListener("click", () => {
    autoplay = !autoplay;
    if (autoplay) { paused.clear(); all(".held").forEach(frame => frame.classList.remove("held")); }
    videos.forEach(video => {
      if (!autoplay && !video.paused) video.pause();
      updatePlayback(video);
    });
    update();
  });
  update();
}

const menu = nav.querySelector("details"), currentSection = nav.querySelector(".here");
const wide = matchMedia("(min-width: 68rem)");
const updateMenu = () => { menu.open = wide.matches; };
wide.addEventListener("change", updateMenu); updateMenu();
/* Folding has moved the section in the address. */
const linked = location.hash && document.getElementById(location.hash.slice(1));
if (linked) linked.scrollIntoView({behavior: "instant"});
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
  currentSection.textContent = link.textContent;
  const low = link.offsetTop + link.offsetHeight - nav.clientHeight;
  if (link.offsetTop < nav.scrollTop || low > nav.scrollTop) nav.scrollTop = Math.max(0, low + 40);
};
/* A section is where one is while it covers a line below the top of the window. */
const sectionObserver = new IntersectionObserver(found => found.forEach(({target, isIntersecting}) => {
  const link = links.get(target.id);
  if (isIntersecting && link) mark(link);
}), {rootMargin: "-25% 0px -74% 0px"});
all("main>section").forEach(part => sectionObserver.observe(part));
})();
