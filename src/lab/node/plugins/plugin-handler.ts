/** A plugin that registered itself. */
export interface Plugin {
  /** `CSIPlugin`, `DevicePlugin` or `DRAPlugin`. */
  readonly type: string;
  readonly name: string;
  /** Where it serves, on this machine. */
  readonly endpoint: string;
  readonly versions: readonly string[];
}

/** Takes the plugins of one type. */
export interface PluginHandler {
  /** Pure: why it is not taken, as a sentence; undefined when it may be. */
  problem(plugin: Plugin): string | undefined;
  /** Rejects when it cannot be taken now: it is tried again later. */
  register(plugin: Plugin, signal: AbortSignal): Promise<void>;
  /** It is gone. Must not reject. */
  deregister(plugin: Plugin): Promise<void>;
}
