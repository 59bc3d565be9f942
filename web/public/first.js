// Runs before the first paint: the theme and the language that the person chose, else those of the browser.
(function () {
  var root = document.documentElement;
  var kept = function (name) {
    try {
      return localStorage.getItem("caesura." + name);
    } catch {
      return null;
    }
  };
  var theme = kept("theme");
  var dark = theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  root.dataset.theme = dark ? "dark" : "light";
  var language = kept("language") || (/^zh\b/i.test(navigator.language) ? "zh" : "en");
  root.lang = language === "zh" ? "zh-Hans" : "en";
})();
