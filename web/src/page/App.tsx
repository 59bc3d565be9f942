import { Suspense, useEffect } from "react";

import { useRoute } from "../state/route";
import { signOutAgain, start, useSession } from "../state/session";
import { useSettings } from "../state/settings";
import { useLanguage, useWords, WordsContext } from "../words/words";
import { Boundary } from "./Boundary";
import { Door } from "./lazy";
import { Broken, Missing, Nowhere } from "./Opening";
import { Shell } from "./Shell";

export function App() {
  const language = useSettings((state) => state.language);
  const texts = useLanguage(language);
  return (
    <WordsContext value={texts}>
      <Boundary fallback={<Broken />}>
        <Place />
      </Boundary>
    </WordsContext>
  );
}

function Place() {
  const phase = useSession((state) => state.phase);
  const nowhere = useRoute((state) => state.at === "nowhere");
  switch (phase) {
    case "starting":
    case "gone":
      return null;
    case "left":
      return <Left />;
    case "unreachable":
      return <Unreachable />;
    case "out":
      return nowhere ? (
        <main>
          <Nowhere />
        </main>
      ) : (
        <Suspense>
          <Door />
        </Suspense>
      );
    case "in":
    case "ended":
      return <Shell />;
  }
}

/** The person has signed out, but the server could not be told. */
function Left() {
  const { say } = useWords();
  return (
    <div role="alert">
      <Missing text={say("leftUntold")} again={signOutAgain} />
    </div>
  );
}

/** The server cannot be reached at all: the page tries again by itself. */
function Unreachable() {
  const { say } = useWords();
  useEffect(() => {
    const timer = setInterval(() => void start(), 3000);
    return () => clearInterval(timer);
  }, []);
  return <Missing text={say("noServer")} again={() => void start()} />;
}
