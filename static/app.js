// Theme, dialogs, the search key, toasts, ages. Every page reads without it.
const root = document.documentElement;

addEventListener("click", (event) => {
  const target = event.target.closest("[data-theme-toggle], [data-open], [data-close], [data-copy]");
  if (!target) return;
  if (target.dataset.open) {
    const dialog = document.getElementById(target.dataset.open);
    if (!dialog) return;
    event.preventDefault();
    dialog.showModal();
  }
  if ("close" in target.dataset) target.closest("dialog").close();
  if (target.dataset.copy) {
    navigator.clipboard?.writeText(document.getElementById(target.dataset.copy).textContent);
  }
  if ("themeToggle" in target.dataset) {
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    root.dataset.theme = (root.dataset.theme || system) === "dark" ? "light" : "dark";
    localStorage.setItem("theme", root.dataset.theme);
    dispatchEvent(new Event("theme"));
  }
});

// A filter that is chosen is applied; the button beside it is for whoever has no script.
addEventListener("change", (event) => {
  if (event.target.matches("form[data-auto] select, form[data-auto] input[type=checkbox]")) {
    event.target.form.requestSubmit();
  }
});

// What was left empty does not belong in the address.
addEventListener("submit", (event) => {
  if (event.target.method !== "get") return;
  for (const field of event.target.elements) {
    if (field.name && field.value === "") field.disabled = true;
  }
  addEventListener("pageshow", () => {
    for (const field of event.target.elements) field.disabled = false;
  }, { once: true });
});

// A long form is narrowed to what has these words in its head; without a script it is read whole.
for (const field of document.querySelectorAll("[data-narrows]")) {
  field.hidden = false;
  field.querySelector("input").addEventListener("input", (event) => {
    const words = event.target.value.trim().toLowerCase();
    let shown = 0;
    for (const each of document.querySelectorAll(field.dataset.narrows)) {
      each.hidden = !each.querySelector("summary").textContent.toLowerCase().includes(words);
      if (!each.hidden) shown += 1;
    }
    field.querySelector("[role=status]").textContent = `${shown} metrics`;
  });
}

addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, dialog")) return;
  event.preventDefault();
  document.getElementById("find")?.focus();
});

for (const toast of document.querySelectorAll(".toast:not([data-stays])")) {
  setTimeout(() => toast.remove(), 6000);
}

// The same words as the template tag `age` writes.
function aged(seconds) {
  const s = Math.max(0, Math.floor(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 36000) {
    const minutes = Math.floor((s % 3600) / 60);
    return minutes ? `${Math.floor(s / 3600)} h ${minutes} min` : `${Math.floor(s / 3600)} h`;
  }
  if (s < 172800) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86400)} d`;
}

// The server's clock, for the browser's may be wrong.
const skew = Date.parse(root.dataset.now) - Date.now();
function tellAges() {
  for (const each of document.querySelectorAll("time[data-age]")) {
    const words = aged((Date.now() + skew - Date.parse(each.dateTime)) / 1000);
    if (each.textContent !== words) each.textContent = words;
  }
}
tellAges();
setInterval(tellAges, 1000);
