// Parts of a page that change by themselves: [data-live] with hx-get and hx-trigger="every 3s".
// The server answers 304 while nothing has changed and 286 when nothing can change any more.
const SILENT_AFTER_S = 15;
const heard = new Map(); // element -> when it was last answered

for (const part of document.querySelectorAll("[data-live]")) heard.set(part, Date.now());

// htmx's own filters need eval, which the content policy forbids.
addEventListener("htmx:beforeRequest", (event) => {
  const part = event.detail.elt;
  if (!part.matches("[data-live]")) return;
  const busy = part.querySelector("dialog[open]") || part.contains(document.activeElement?.closest("form"));
  if (document.hidden || busy) event.preventDefault();
});

addEventListener("htmx:configRequest", (event) => {
  const part = event.detail.elt;
  if (part.matches("[data-live]") && part.dataset.etag) {
    event.detail.headers["If-None-Match"] = part.dataset.etag;
  }
});

addEventListener("htmx:afterRequest", (event) => {
  const part = event.detail.elt;
  if (!part.matches("[data-live]")) return;
  const { status } = event.detail.xhr;
  if (status === 200 || status === 286) {
    part.dataset.etag = event.detail.xhr.getResponseHeader("ETag") ?? "";
  }
  if (status >= 200 && status < 400) heard.set(part, Date.now());
  if (status === 286) part.dataset.live = "final";
  tellState();
});

// Where the reader was in a box that scrolls must survive the exchange of what is in it.
let places = [];
addEventListener("htmx:beforeSwap", (event) => {
  if (!event.detail.target.matches("[data-live]")) return;
  places = [...event.detail.target.querySelectorAll(".scroll")].map((box) => [box.scrollLeft, box.scrollTop]);
});
addEventListener("htmx:afterSwap", (event) => {
  if (!event.detail.target.matches("[data-live]")) return;
  event.detail.target.querySelectorAll(".scroll").forEach((box, place) => {
    if (places[place]) [box.scrollLeft, box.scrollTop] = places[place];
  });
  dispatchEvent(new Event("swapped"));
});

function stateOf(part) {
  if (part.dataset.live === "final") return "final";
  if (document.hidden) return "paused";
  const age = Math.round((Date.now() - heard.get(part)) / 1000);
  return age > SILENT_AFTER_S ? `no word for ${age} s` : `live, ${age} s ago`;
}

function tellState() {
  for (const sign of document.querySelectorAll("[data-live-state]")) {
    const part = document.getElementById(sign.dataset.liveState);
    if (!part || !heard.has(part)) continue;
    const words = stateOf(part);
    sign.textContent = words;
    sign.classList.toggle("v", words.startsWith("no word"));
    sign.classList.toggle("v-errored", words.startsWith("no word"));
  }
}
tellState();
setInterval(tellState, 1000);
addEventListener("visibilitychange", tellState);
