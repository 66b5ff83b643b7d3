/** Remembers the last so many of what was added. */
export interface RecentSet<Value> {
  has(value: Value): boolean;
  add(value: Value): void;
}

export const createRecentSet = <Value>(max: number): RecentSet<Value> => {
  const values = new Set<Value>();
  return {
    has: (value) => values.has(value),
    add: (value) => {
      values.delete(value);
      values.add(value);
      if (values.size <= max) return;
      const [oldest] = values;
      values.delete(oldest as Value);
    },
  };
};
