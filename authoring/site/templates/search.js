// Finds the sections that hold every word that was typed. SECTIONS comes from search-index.js.
"use strict";

const MOST = 15; // sections that are shown
const AROUND = 60; // characters on both sides of the first word

const field = document.getElementById("search");
const found = document.getElementById("found");
const plain = (text) => text.toLowerCase();

function score(section, words) {
  const [heading, text] = [plain(`${section.page} ${section.heading}`), plain(section.text)];
  let sum = 0;
  for (const word of words) {
    const times = text.split(word).length - 1;
    if (!times && !heading.includes(word)) return 0;
    sum += Math.min(times, 5) + (heading.includes(word) ? 10 : 0);
  }
  return sum;
}

function excerpt(text, words) {
  const places = words.map((word) => plain(text).indexOf(word)).filter((place) => place >= 0);
  const start = Math.max(0, Math.min(...places, text.length) - AROUND);
  const end = Math.min(text.length, start + 2 * AROUND);
  return (start ? "… " : "") + text.slice(start, end) + (end < text.length ? " …" : "");
}

function entry(section, words) {
  const link = document.createElement("a");
  link.href = section.file + (section.anchor ? "#" + encodeURIComponent(section.anchor) : "");
  const title = document.createElement("strong");
  title.textContent = section.heading === section.page ? section.page : `${section.page}: ${section.heading}`;
  const words_around = document.createElement("span");
  words_around.textContent = excerpt(section.text, words);
  link.append(title, words_around);
  return link;
}

function search() {
  const words = plain(field.value).split(/\s+/).filter(Boolean);
  found.replaceChildren();
  if (!words.length) return;
  const hits = SECTIONS.map((section) => [score(section, words), section]).filter(([sum]) => sum);
  hits.sort(([one], [other]) => other - one);
  const count = document.createElement("p");
  count.textContent = hits.length ? `${hits.length} found` : "Nothing found.";
  found.append(count, ...hits.slice(0, MOST).map(([, section]) => entry(section, words)));
}

function close() {
  field.value = "";
  search();
}

field.addEventListener("input", search);
field.addEventListener("keydown", (event) => {
  if (event.key === "Escape") close();
});
found.addEventListener("click", (event) => {
  if (event.target.closest("a")) close();
});
