import { useEffect, useState } from "react";

import { ApiError, isSilent } from "../../api/client";
import type { NewAnswer } from "../../api/types";
import { giveAnswer, useAnswers } from "../../state/answers";
import { refusalText } from "../../words/faults";
import { useWords } from "../../words/words";
import { holdFocus } from "./hold";
import { SLOW } from "./moment";

interface Give {
  give: (answer: NewAnswer) => void;
  busy: boolean;
  fault: string;
}

/** Sends an answer to one question, and says why if it was not taken. */
export function useGive(id: string): Give {
  const words = useWords();
  const given = useAnswers((state) => state[id]);
  const [fault, setFault] = useState("");
  const send = async (answer: NewAnswer): Promise<void> => {
    setFault("");
    const goOn = holdFocus(id);
    try {
      await giveAnswer(id, answer);
      goOn(true);
    } catch (error) {
      goOn(false);
      // The end of a session has a dialog of its own.
      if (error instanceof ApiError && error.status === 401) return;
      setFault(isSilent(error) ? words.say("unanswered") : words.say("answerFailed", refusalText(error as ApiError, words)));
    }
  };
  const slow = useSlow(given?.phase === "sending");
  return { give: (answer) => void send(answer), busy: given !== undefined, fault: slow ? words.say("answerSlow") : fault };
}

/** Whether this has lasted for a while: a button that does nothing needs a reason. */
function useSlow(lasts: boolean): boolean {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    if (!lasts) return;
    const timer = setTimeout(() => setSlow(true), SLOW);
    return () => {
      clearTimeout(timer);
      setSlow(false);
    };
  }, [lasts]);
  return slow;
}
