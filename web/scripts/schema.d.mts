export function generated(): Promise<string>;
