"use strict";
(() => {
  const nav = document.getElementById("contents");
  const box = document.createElement("p");
  box.className = "filter";
  box.innerHTML = '<input type="search" placeholder="Filter operations" aria-label="Filter operations">';
  nav.querySelector(".links").before(box);
  const articles = [...document.querySelectorAll("article")];
  const links = new Map([...nav.querySelectorAll("li a")].map((a) => [a.hash.slice(1), a]));
  box.firstChild.addEventListener("input", (event) => {
    const words = event.target.value.toLowerCase().split(/\s+/);
    for (const article of articles) {
      const text = article.dataset.find.toLowerCase();
      article.hidden = !words.every((word) => text.includes(word));
      links.get(article.id).parentElement.hidden = article.hidden;
    }
    for (const group of document.querySelectorAll(".group, nav section")) {
      const inside = [...group.querySelectorAll("article, li")];
      group.hidden = inside.length > 0 && inside.every((one) => one.hidden);
    }
  });
  for (const panel of document.querySelectorAll(".panel")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(panel.querySelector("code").textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    panel.querySelector("figcaption").append(button);
  }
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(entry.target.id).setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-10% 0px -80% 0px" });
  articles.forEach((article) => watch.observe(article));
})();
