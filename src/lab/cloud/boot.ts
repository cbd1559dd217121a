/** An instance that was powered on, for whoever makes a node of it (C14). */
export interface BootedInstance {
  readonly id: string;
  readonly name: string;
  readonly zone: string;
  readonly providerId: string;
  /** `10.L.k.n`, kept over stop and start. */
  readonly privateAddress: string;
  readonly hostname: string;
  /** Decoded; empty without one. */
  readonly userData: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** How instances become nodes. The cloud knows nothing else of nodes: `startLab` hands this over. */
export interface Boot {
  /** The next free node address. */
  takeAddress(): { readonly privateAddress: string; readonly publicAddress: string };
  /**
   * `print` adds a line to the console. `onDisk` is awaited when the instance has its disk, before anything runs on it.
   * Must not reject: what goes wrong is printed.
   */
  powerOn(instance: BootedInstance, print: (line: string) => void, onDisk: () => Promise<void>): Promise<void>;
  /** At once, without grace. Idempotent. */
  powerOff(instanceId: string): Promise<void>;
  /** The instance is gone for good: its address may be used again. */
  release(instanceId: string, privateAddress: string): void;
  /** Where devices of attached volumes appear: `<root>/dev/disk/by-id` (C21); undefined for an instance that is off, or boots nothing. */
  rootOf(instanceId: string): string | undefined;
}
