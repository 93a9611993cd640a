/** An LRU cache: above a total weight of `limit`, the least recently used value is dropped. */
export interface Recent<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  clear(): void;
}

/** @param weight of one value. Default: every value weighs 1. */
export function recent<K, V>(limit: number, weight: (value: V) => number = () => 1): Recent<K, V> {
  const kept = new Map<K, { readonly value: V; readonly weight: number }>();
  let total = 0;
  const remove = (key: K): void => {
    total -= kept.get(key)?.weight ?? 0;
    kept.delete(key);
  };
  return {
    get(key) {
      const found = kept.get(key);
      if (found === undefined) return undefined;
      kept.delete(key);
      kept.set(key, found);
      return found.value;
    },
    set(key, value) {
      remove(key);
      const entry = { value, weight: weight(value) };
      kept.set(key, entry);
      total += entry.weight;
      for (const oldest of kept.keys()) {
        if (total <= limit) break;
        remove(oldest);
      }
    },
    clear() {
      kept.clear();
      total = 0;
    },
  };
}
