// Before the first paint: the visitor's theme, so that a dark page never flashes white.
(() => {
  let stored = null;
  try { stored = localStorage.getItem("loci-theme"); } catch { /* private windows */ }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = stored ?? (dark ? "dark" : "light");
})();
