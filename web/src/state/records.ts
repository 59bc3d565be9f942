// Things by their ids. Somebody else chooses an id: it may be a name that every object has, such as "constructor".
import { create, type StoreApi, type UseBoundStore } from "zustand";

export type Records<T> = Record<string, T>;

/** A record that has nothing but what was put into it. */
export function records<T>(...from: readonly Readonly<Records<T>>[]): Records<T> {
  return Object.assign(Object.create(null) as Records<T>, ...from) as Records<T>;
}

/** A store of things by their ids. */
export function createRecords<T>(begin: Records<T> = {}): UseBoundStore<StoreApi<Records<T>>> {
  const store = create<Records<T>>()(() => records(begin));
  const { setState } = store;
  // The store's own way would put them into an ordinary object.
  store.setState = (change: Partial<Records<T>> | ((before: Records<T>) => Partial<Records<T>>), replace?: boolean): void => {
    setState((before) => records(replace ? {} : before, (typeof change === "function" ? change(before) : change) as Records<T>), true);
  };
  return store;
}
