"""The script of the page of `uploader.report.html`: it finds and sorts files. Where scripts don't run, all else works."""

from __future__ import annotations

import base64
import hashlib

SCRIPT = """
(() => {
  const bar = document.getElementById("find");
  if (!bar) return;
  const groups = [...document.querySelectorAll("main > details")].map(group => {
    const lists = [...group.querySelectorAll("ol.files")];
    return { group, lists, sizes: lists.map(list => list.children.length), files: lists.flatMap(list => [...list.children]) };
  });
  const input = bar.querySelector("input"), order = bar.querySelector("select"), told = bar.querySelector("output");
  const initial = new Map([...document.querySelectorAll("details")].map(part => [part, part.open]));
  const name = file => file.querySelector(".name").textContent;
  const number = key => file => Number(file.dataset[key]);
  const orders = {
    name: (a, b) => name(a).localeCompare(name(b)),
    size: (a, b) => number("size")(b) - number("size")(a),
    lines: (a, b) => number("lines")(a) - number("lines")(b),
  };
  const find = () => {
    const words = input.value.toLowerCase().split(/\\s+/).filter(Boolean);
    let found = 0;
    for (const { group, files } of groups) {
      let here = 0;
      for (const file of files) {
        const text = words.length ? file.textContent.toLowerCase() : "";
        file.hidden = !words.every(word => text.includes(word));
        here += !file.hidden;
      }
      group.hidden = !here;
      found += here;
    }
    for (const [part, opened] of initial) part.open = words.length ? !!part.querySelector("li:not([hidden])") : opened;
    told.textContent = words.length ? `${found.toLocaleString("en")} found` : "";
  };
  order.addEventListener("change", () => {
    for (const { lists, sizes, files } of groups) {
      const sorted = orders[order.value] ? [...files].sort(orders[order.value]) : files;
      let start = 0;
      lists.forEach((list, place) => list.append(...sorted.slice(start, start += sizes[place])));
    }
  });
  input.addEventListener("input", find);
  bar.addEventListener("submit", event => event.preventDefault());
  bar.hidden = false;
})();
"""

ALLOWED = "'sha256-" + base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode() + "'"
"""The one script that the page allows itself, for its Content-Security-Policy."""
