// Follows a log that grows, and finds a line that was linked but is not shown.
const box = document.getElementById("log");
const button = document.getElementById("follow");
let follows = Boolean(button) && !location.hash;

function atEnd() {
  return box.scrollHeight - box.scrollTop - box.clientHeight < 40;
}

function tell() {
  if (!button) return;
  button.hidden = false;
  button.setAttribute("aria-pressed", String(follows));
  button.textContent = follows ? "Following" : "Follow";
}

function toEnd() {
  if (follows && box) box.scrollTop = box.scrollHeight;
}

button?.addEventListener("click", () => {
  follows = !follows;
  tell();
  toEnd();
});

// The reader who scrolls up reads; who comes back to the end follows again.
box?.addEventListener("scroll", () => {
  if (!button || follows === atEnd()) return;
  follows = atEnd();
  tell();
}, { passive: true });

addEventListener("htmx:afterSwap", () => {
  if (!document.getElementById("tail")) button?.remove();
  toEnd();
});

const line = /^#L(\d+)$/.exec(location.hash);
if (line && !document.getElementById(`L${line[1]}`)) {
  const address = new URL(location.href);
  if (address.searchParams.get("line") !== line[1]) {
    address.searchParams.set("line", line[1]);
    location.replace(address);
  }
}
tell();
toEnd();
