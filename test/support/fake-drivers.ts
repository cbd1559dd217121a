import type { RegisteredDriver } from '../../src/lab/node/csi/driver-store.ts';

export const driver = (name: string, more: Partial<RegisteredDriver> = {}): RegisteredDriver => ({
  name,
  endpoint: '/csi.sock',
  version: [1, 0, 0],
  nodeId: `${name}-node`,
  topology: {},
  maxVolumes: 0n,
  ...more,
});

/** Drivers that come and go. */
export class FakeDrivers {
  readonly gone = new Set<string>();
  registered: readonly RegisteredDriver[] = [];
  readonly #listeners = new Set<() => void>();

  subscribe(changed: () => void): Disposable {
    this.#listeners.add(changed);
    return { [Symbol.dispose]: () => void this.#listeners.delete(changed) };
  }

  set(...drivers: readonly RegisteredDriver[]): void {
    const names = new Set(drivers.map(({ name }) => name));
    for (const { name } of this.registered) if (!names.has(name)) this.gone.add(name);
    for (const name of names) this.gone.delete(name);
    this.registered = drivers;
    for (const changed of this.#listeners) changed();
  }
}
