import { pieces } from "../log/shown";

interface ShownProps {
  text: string;
  /** In a message only what hides or reorders its words is marked, not what joins letters or emoji. */
  message?: boolean;
}

/** A text of somebody else. Hidden characters are marked, so that nobody takes them for words, or words for them. */
export function Shown({ text, message = false }: ShownProps) {
  return pieces(text, message ? "misleading" : "all").map((piece, index) =>
    piece.hidden === null ? (
      piece.text
    ) : (
      <span key={index} className="escape" title={piece.hidden}>
        {piece.text}
      </span>
    ),
  );
}
