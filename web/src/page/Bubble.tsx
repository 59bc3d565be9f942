import { Shown } from "../rich/Shown";

export function Bubble({ text }: { text: string }) {
  return (
    <div className="bubble lines-kept">
      <Shown text={text.replaceAll("\r\n", "\n")} message />
    </div>
  );
}
