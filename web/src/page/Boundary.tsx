import { Component, type ReactNode } from "react";

interface BoundaryProps {
  /** What is shown in place of what broke. */
  fallback: ReactNode;
  children: ReactNode;
}

/** Keeps a part that breaks, or could not be loaded, from taking the page with it. */
export class Boundary extends Component<BoundaryProps, { broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError(): { broken: boolean } {
    return { broken: true };
  }

  override render(): ReactNode {
    return this.state.broken ? this.props.fallback : this.props.children;
  }
}
