import { type FSWatcher, watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { Clock } from '../../../base/clock.ts';
import { messageOf, userError } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import { aborted } from '../../../kube/aborted.ts';
import { every } from '../../clock/every.ts';
import { briefHold } from './brief-hold.ts';
import { nodeSocketProblem, onMachine, PLUGIN_REGISTRY } from './node-sockets.ts';
import { type RegistrationOptions, registerPlugin } from './registration.ts';
import { socketTree } from './socket-tree.ts';

/** Changes are told; this finds what was not (no inotify left, some file systems). */
const SCAN_MS = 20_000;
/** Several files often come at once. */
const SETTLE_MS = 20;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 122_000;

export interface PluginWatcherOptions extends RegistrationOptions {
  /** Lab time: how long until a plugin that failed is asked again (T6). */
  readonly clock: Clock;
  readonly log: Log;
  /** Keeps lab time still while files are read and plugins are asked. */
  readonly hold?: (reason: string) => Disposable;
}

/**
 * Registers the plugins whose sockets are in the registry of the node, now and whenever one comes, and de-registers them
 * when their socket goes (N33). A plugin that cannot be registered is asked again, less and less often. Disposing it ends
 * that; what is registered stays so. Rejects with a user error when the paths of sockets would be too long (N34).
 */
export async function startPluginWatcher(options: PluginWatcherOptions): Promise<AsyncDisposable> {
  const problem = nodeSocketProblem(options.root);
  if (problem !== undefined) throw userError('NodeRootTooLong', problem);
  const watcher = new PluginWatcher(options);
  await watcher.start();
  return watcher;
}

interface KnownSocket {
  readonly mark: string;
  readonly gone: AbortController;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

class PluginWatcher implements AsyncDisposable {
  readonly #options: PluginWatcherOptions;
  readonly #path: string;
  readonly #stop = new AbortController();
  /** By path; bounded by what is read of the directory. */
  readonly #sockets = new Map<string, KnownSocket>();
  readonly #watchers = new Map<string, { readonly mark: string; readonly watcher: FSWatcher }>();
  #scans: Disposable | undefined;
  #settling: Disposable | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(options: PluginWatcherOptions) {
    this.#options = options;
    this.#path = onMachine(options.root, PLUGIN_REGISTRY);
  }

  async start(): Promise<void> {
    await mkdir(this.#path, { recursive: true, mode: 0o750 });
    await this.#scan();
    this.#scans = every(this.#options.clock, SCAN_MS, () => void this.#scan());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('the node does not work any more'));
    this.#scans?.[Symbol.dispose]();
    this.#settling?.[Symbol.dispose]();
    await this.#last;
    for (const { watcher } of this.#watchers.values()) watcher.close();
    await Promise.all([...this.#sockets.values()].map(({ ended }) => ended));
  }

  /** One after the other. */
  #scan(): Promise<void> {
    this.#last = this.#last.then(async () => {
      if (this.#stop.signal.aborted) return;
      using _hold = this.#options.hold?.('sockets of plugins');
      try {
        // Watchers first: what comes between them and the look is seen by one of both.
        this.#watchAll((await socketTree(this.#path)).directories);
        this.#follow((await socketTree(this.#path)).sockets);
      } catch (err) {
        this.#options.log.error({ err, directory: this.#path }, 'Cannot look for plugins');
      }
    });
    return this.#last;
  }

  #follow(found: ReadonlyMap<string, string>): void {
    for (const [path, { mark, gone }] of this.#sockets) {
      if (found.get(path) !== mark) gone.abort(new Error('the socket of the plugin is gone'));
    }
    for (const [path, mark] of found) {
      const known = this.#sockets.get(path);
      if (known !== undefined && !known.gone.signal.aborted) continue;
      const gone = new AbortController();
      const before = known?.ended ?? Promise.resolve();
      const ended = before
        .then(() => this.#keepRegistered(path, gone.signal))
        .finally(() => this.#forget(path, gone));
      this.#sockets.set(path, { mark, gone, ended });
    }
  }

  #forget(path: string, gone: AbortController): void {
    if (this.#sockets.get(path)?.gone === gone) this.#sockets.delete(path);
  }

  /** Resolves when the socket is gone and the plugin is de-registered, or when the node ends. */
  async #keepRegistered(path: string, gone: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const either = AbortSignal.any([gone, this.#stop.signal]);
    let told = '';
    for (let failures = 0; !either.aborted; failures++) {
      try {
        return await this.#registerUntil(path, gone, either);
      } catch (error) {
        const why = messageOf(error);
        if (!either.aborted && why !== told) log.warn({ socket: path, err: error }, 'Cannot register a plugin');
        told = why;
      }
      const delayMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures, 20), LONGEST_RETRY_MS);
      await clock.sleep(delayMs, either).catch(() => {});
    }
  }

  async #registerUntil(path: string, gone: AbortSignal, either: AbortSignal): Promise<void> {
    const { log } = this.#options;
    const { plugin, handler } = await this.#register(path, either);
    log.info({ plugin: plugin.name, type: plugin.type }, 'Registered plugin');
    await aborted(either);
    if (!gone.aborted) return;
    await handler.deregister(plugin);
    log.info({ plugin: plugin.name, type: plugin.type }, 'Deregistered plugin');
  }

  async #register(path: string, signal: AbortSignal) {
    using _hold = briefHold(this.#options, `registration of the plugin at ${path}`);
    return await registerPlugin(path, this.#options, signal);
  }

  #watchAll(directories: ReadonlyMap<string, string>): void {
    for (const [path, { mark, watcher }] of this.#watchers) {
      if (directories.get(path) === mark) continue;
      watcher.close();
      this.#watchers.delete(path);
    }
    for (const [path, mark] of directories) if (!this.#watchers.has(path)) this.#watch(path, mark);
  }

  #watch(path: string, mark: string): void {
    const failed = (err: unknown) => this.#options.log.debug({ err, path }, 'Cannot watch a directory of plugins');
    try {
      const watcher = watch(path, { persistent: false }, () => this.#settle());
      watcher.on('error', failed);
      this.#watchers.set(path, { mark, watcher });
    } catch (err) {
      failed(err);
    }
  }

  #settle(): void {
    this.#settling?.[Symbol.dispose]();
    if (this.#stop.signal.aborted) return;
    this.#settling = this.#options.real.timer(SETTLE_MS, () => void this.#scan());
  }
}
