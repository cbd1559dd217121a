import type { BootedHost } from './host-power.ts';

/** What a machine calls itself when it starts from its disk, and what its kubelet is told. */
export interface NodeIdentity {
  readonly hostname: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly providerId?: string;
  /** Why its kubelet does not start; undefined when it does. */
  readonly failure?: string;
  /** Units that failed, with what they said. The machine goes on without them. */
  readonly problems: readonly string[];
  /** Units that the lab does not run. */
  readonly notRun: readonly string[];
}

/** Machines as an installer sees them. */
export interface InstalledHosts {
  /** Undefined when it is off, or unknown. */
  find(id: string): BootedHost | undefined;
  /**
   * The machine reboots from its disk with this ignition, as text, besides what it was given before. Undefined when it is
   * off. Rejects when the lab cannot run its scripts.
   */
  identify(id: string, ignition: string | undefined): Promise<NodeIdentity | undefined>;
  /** It is a node now: it does not register again. Succeeds for unknown ones. */
  installed(id: string): void;
  /** Its Agent is gone: when it is on and not installed, it registers again. */
  forgotten(id: string): void;
}
