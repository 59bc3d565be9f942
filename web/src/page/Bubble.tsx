export function Bubble({ text }: { text: string }) {
  return <div className="bubble lines-kept">{text}</div>;
}
