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
  // The texts are fetched beside the scripts. The build wrote into the tag of this script where they are.
  var words = document.currentScript && document.currentScript.dataset[language === "zh" ? "zh" : "en"];
  if (words) {
    var link = document.createElement("link");
    link.rel = "modulepreload";
    link.href = words;
    document.head.append(link);
  }
})();
