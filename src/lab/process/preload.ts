/* oxlint-disable max-lines -- loaded by its URL into programs that know nothing of it: all it needs is in it (X6) */
/**
 * Runs inside every Node child of the lab, before its program: it gives the child an address of its own (X6, X7, X10)
 * and shows it the files of its mounts (P8). It prints nothing and never hinders a program: what it cannot place goes
 * on as it was.
 */
import dgram from 'node:dgram';
import dns from 'node:dns';
import fs from 'node:fs';
import module, { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import { normalize } from 'node:path/posix';
import { env, nextTick } from 'node:process';
import { fileURLToPath } from 'node:url';

type Args = readonly unknown[];
type Native = (self: object, args: Args) => unknown;
type Fields = Readonly<Record<string, unknown>>;
type Callback = (...values: unknown[]) => unknown;
type Answer = (error: Error | null, addresses: readonly string[]) => void;
type Endpoint = { readonly host: string; readonly port: number };

/** What the lab says of itself in `SLIPWAY_NETWORK`, and where in it this child is. */
export interface Network {
  readonly octet: number;
  readonly mode: 'loopback' | 'anyip' | 'ports';
  /** Of the lab: the table of ports is there, and nothing in it is ever mounted over. */
  readonly directory: string;
  /** Added to ports below 1024 that nobody may bind here (X7); 0 when they can be bound. */
  readonly lowPortOffset: number;
  readonly dns: Endpoint;
  readonly metadata: string;
  /** Names that end so are asked of the lab, besides those of services. */
  readonly zones: readonly string[];
  readonly own?: string | undefined;
}

export interface Redirection {
  readonly mountPath: string;
  readonly source: string;
}

const LOCAL_HOSTS = new Set(['', '0.0.0.0', '::', 'localhost', '127.0.0.1', '::1']);
const SERVICE_ZONES = ['svc', 'svc.cluster.local'];
/** Where nobody listens: connections that lead nowhere in the lab are refused here. */
const CLOSED_PORT = 1;

/** What the resolver says when there is no such name, or nothing of the kind by that name. */
const UNKNOWN_NAME: ReadonlySet<string> = new Set([dns.NOTFOUND, dns.NODATA, dns.BADNAME]);

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** A port as `node:net` takes it; undefined for anything else. */
function portOf(value: unknown): number | undefined {
  if (typeof value === 'string' ? value.trim() === '' : typeof value !== 'number') return undefined;
  const port = Number(value);
  return Number.isInteger(port) && port >= 0 && port < 65_536 ? port : undefined;
}

function attempt<T>(place: () => T): T | undefined {
  try {
    return place();
  } catch {
    return undefined; // The program goes on as if the preload were not there.
  }
}

/** Puts another function in the place of one, with its properties; those that are functions, such as `native`, likewise. */
function patch(owner: object, name: PropertyKey, make: (native: Native) => Native, isProperty = false): void {
  const original: unknown = Reflect.get(owner, name);
  if (typeof original !== 'function') return;
  const instead = make((self, args) => Reflect.apply(original, self, args));
  const replacement = function (this: object, ...args: unknown[]): unknown {
    return instead(this, args);
  };
  for (const key of Reflect.ownKeys(original).filter((key) => key !== 'prototype')) {
    Object.defineProperty(replacement, key, Reflect.getOwnPropertyDescriptor(original, key) ?? {});
    // Not for ever: some functions are properties of themselves.
    if (!isProperty) patch(replacement, key, make, true);
  }
  Reflect.set(owner, name, replacement);
}

/** The lab address that a host means: as it is dialled, but in mode `ports` as the API shows it. Undefined outside. */
export function labAddress(network: Network, host: unknown): string | undefined {
  if (host === undefined || host === null) return network.own;
  if (typeof host !== 'string') return undefined;
  const plain = host.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '');
  if (LOCAL_HOSTS.has(plain)) return network.own;
  if (plain === '169.254.169.254') return network.metadata;
  const isLoopback = network.mode === 'loopback';
  const [first, octet, ...rest] = plain.split('.');
  if (!net.isIPv4(plain) || Number(octet) !== network.octet) return undefined;
  if (first !== '10' && !(isLoopback && first === '127')) return undefined;
  return [isLoopback ? '127' : '10', octet, ...rest].join('.');
}

/** Whether the DNS server of the lab is asked for a name. */
export function isLabName(zones: readonly string[], host: unknown): host is string {
  if (typeof host !== 'string') return false;
  const name = host.toLowerCase().replace(/\.$/, '');
  return [...SERVICE_ZONES, ...zones].some((zone) => name === zone || name.endsWith(`.${zone}`));
}

/** Places by `address<tab>port`. Of two lines for one place, or for one port of this machine, the first one counts. */
export function portTable(text: string): ReadonlyMap<string, number> {
  const ports = new Map<string, number>();
  const taken = new Set<string>();
  for (const line of text.split('\n').slice(0, -1)) {
    const [address, port, actual = ''] = line.split('\t');
    const place = `${address}\t${port}`;
    if (ports.has(place) || taken.has(actual)) continue;
    ports.set(place, Number(actual));
    // A port that the kernel chose stands for itself, and may be given to another address later.
    if (port !== actual) taken.add(actual);
  }
  return ports;
}

const lookupError = (code: 'ENOTFOUND' | 'EAI_AGAIN', hostname: string): Error =>
  Object.assign(new Error(`getaddrinfo ${code} ${hostname}`), {
    errno: code === 'ENOTFOUND' ? -3008 : -3001,
    code,
    syscall: 'getaddrinfo',
    hostname,
  });

/** `listen` and `bind` in all their forms; undefined when they are not about a port. */
function listenOptions(args: Args, hostField: 'host' | 'address') {
  const [first, second, third] = args;
  if (isFields(first)) {
    const isPort = 'port' in first && !['fd', 'handle', '_handle', 'recvStart'].some((field) => field in first);
    const port = isPort ? portOf(first['port'] ?? 0) : undefined;
    return port === undefined ? undefined : { rest: first, host: first[hostField], port };
  }
  const port = portOf(typeof first === 'function' ? 0 : (first ?? 0));
  if (port === undefined) return undefined;
  const backlog = [second, third].find((value) => typeof value === 'number');
  return { rest: { backlog }, host: typeof second === 'string' ? second : undefined, port };
}

/** `connect` in all its forms. */
function connectOptions([first, second]: Args): Fields {
  if (isFields(first)) return first;
  if (typeof first === 'string' && portOf(first) === undefined) return { path: first };
  return { port: first, host: typeof second === 'string' ? second : undefined };
}

/** None, or the one at the end. */
const callbackOf = (args: Args): readonly Callback[] =>
  args.slice(-1).filter((last): last is Callback => typeof last === 'function');

/** Gives a program the address of its pod in place of this machine's (X6). */
class Rehoming {
  readonly #network: Network;
  /** Ports as the program asked for them, where others are bound. */
  readonly #asked = new WeakMap<object, number>();
  #nativeListen: Native = () => undefined;
  /** While `listen` runs look-ups of addresses answer at once: without a host it binds at once, so it has to with one. */
  #isListening = false;
  /** While a datagram is sent: where to. A socket that is bound for it gets an address from which it can go there. */
  #sending: 'lab' | 'outside' | undefined;

  constructor(network: Network) {
    this.#network = network;
  }

  install(): void {
    patch(net.Server.prototype, 'listen', (native) => {
      this.#nativeListen = native;
      return (server, args) => this.#listen(native, server, args, 'host');
    });
    patch(
      dgram.Socket.prototype,
      'bind',
      (native) => (socket, args) => this.#listen(native, socket, args, 'address'),
    );
    for (const prototype of [net.Server.prototype, dgram.Socket.prototype])
      patch(prototype, 'address', (native) => (socket, args) => {
        const [told, port] = [native(socket, args), this.#asked.get(socket)];
        return port === undefined || !isFields(told) ? told : { ...told, port };
      });
    patch(net.Socket.prototype, 'connect', (native) => (socket, args) => this.#connect(native, socket, args));
    patch(dgram.Socket.prototype, 'connect', (native) => (socket, args) => this.#send(native, socket, args, 0));
    patch(dgram.Socket.prototype, 'send', (native) => (socket, args) => {
      const hasRange = Boolean(args[4]) || (Boolean(args[3]) && typeof args[3] !== 'function');
      return this.#send(native, socket, args, hasRange ? 3 : 1);
    });
    patch(dns, 'lookup', (native) => (self, args) => this.#lookup(native, self, args));
    patch(dns.promises, 'lookup', (native) => (self, args) => {
      if (!isLabName(this.#network.zones, args[0])) return native(self, args);
      return new Promise((resolve, reject) => {
        const done = (error: Error | null, address: unknown, family: unknown) =>
          error === null ? resolve(family === undefined ? address : { address, family }) : reject(error);
        this.#lookup(native, self, [args[0], args[1], done]);
      });
    });
  }

  get #table(): string {
    return `${this.#network.directory}/ports.tsv`;
  }

  #ports(): ReadonlyMap<string, number> {
    return portTable(fs.readFileSync(this.#table, 'utf8'));
  }

  #mapped(port: number): number {
    return port > 0 && port < 1024 ? port + this.#network.lowPortOffset : port;
  }

  #target(host: unknown, port: number, isDatagram: boolean): Endpoint | undefined {
    const address = labAddress(this.#network, host);
    if (address === undefined) return undefined;
    if (this.#network.mode !== 'ports') return { host: address, port: this.#mapped(port) };
    const ports = this.#ports();
    // Ports of this machine that the lab told, and whoever sent a datagram, are reached as they are.
    const isActual = address === this.#network.own && (isDatagram || [...ports.values()].includes(port));
    const otherwise = isActual ? port : CLOSED_PORT;
    return { host: '127.0.0.1', port: ports.get(`${address}\t${port}`) ?? otherwise };
  }

  #place(host: unknown, port: number): (Endpoint & { readonly address: string }) | undefined {
    const address = labAddress(this.#network, host);
    if (address === undefined) return undefined;
    if (this.#network.mode !== 'ports') return { address, host: address, port: this.#mapped(port) };
    return { address, host: '127.0.0.1', port: port === 0 ? 0 : this.#claim(`${address}\t${port}`, port) };
  }

  /** Once a place has a port of this machine it keeps it, so that who listens there again is refused as usual (X5). */
  #claim(place: string, port: number): number {
    for (let tries = 0; tries < 1000; tries++) {
      const ports = this.#ports();
      const known = ports.get(place);
      if (known !== undefined) return known;
      const actual = 20_000 + Math.floor(Math.random() * 12_000);
      if ([...ports.values()].includes(actual) || !this.#isFree(actual)) continue;
      fs.appendFileSync(this.#table, `${place}\t${actual}\n`);
    }
    return port;
  }

  #isFree(port: number): boolean {
    const probe = net.createServer().on('error', () => undefined);
    this.#atOnce(() => this.#nativeListen(probe, [{ port, host: '127.0.0.1', exclusive: true }]));
    const isFree = probe.address() !== null;
    probe.close();
    return isFree;
  }

  #atOnce<T>(listen: () => T): T {
    this.#isListening = true;
    try {
      return listen();
    } finally {
      this.#isListening = false;
    }
  }

  #listen(native: Native, socket: object, args: Args, hostField: 'host' | 'address'): unknown {
    const asked = this.#sending === 'outside' ? undefined : listenOptions(args, hostField);
    const at = asked && attempt(() => this.#place(asked.host, asked.port));
    this.#asked.delete(socket);
    if (asked === undefined || at === undefined) return native(socket, args);
    if (asked.port !== at.port) this.#asked.set(socket, asked.port);
    if (at.port === 0 && this.#network.mode === 'ports' && this.#sending === undefined)
      this.#tellPort(socket, at.address);
    const host = Reflect.get(socket, 'type') === 'udp6' ? `::ffff:${at.host}` : at.host;
    const options = { ...asked.rest, port: at.port, [hostField]: host };
    const listen = () => native(socket, [options, ...callbackOf(args)]);
    return hostField === 'host' ? this.#atOnce(listen) : listen();
  }

  /** A port that the kernel chose stands for itself. */
  #tellPort(socket: object, address: string): void {
    if (!(socket instanceof net.Server || socket instanceof dgram.Socket)) return;
    socket.prependOnceListener('listening', () => {
      const told = socket.address();
      const port = isFields(told) ? portOf(told['port']) : undefined;
      attempt(() => port && fs.appendFileSync(this.#table, `${address}\t${port}\t${port}\n`));
    });
  }

  /** What the DNS server of the lab says. Services are known by their full name; the lab has no IPv6. */
  #ask(host: string, done: Answer): void {
    const failed = (code: 'ENOTFOUND' | 'EAI_AGAIN') => done(lookupError(code, host), []);
    const resolver = attempt(() => {
      const { dns: server } = this.#network;
      const at = this.#target(server.host, server.port, true) ?? server;
      const made = new dns.Resolver({ timeout: 1000, tries: 3 });
      made.setServers([`${at.host}:${at.port}`]);
      return made;
    });
    if (resolver === undefined) return nextTick(failed, 'EAI_AGAIN');
    const name = host.replace(/\.$/, '').replace(/\.svc$/i, '.svc.cluster.local');
    return resolver.resolve4(name, (error, addresses) => {
      if (error === null) return done(null, addresses);
      return failed(UNKNOWN_NAME.has(error.code ?? '') ? 'ENOTFOUND' : 'EAI_AGAIN');
    });
  }

  #connect(native: Native, socket: object, args: Args): unknown {
    // Node itself passes a list of options and callback.
    const list: Args = Array.isArray(args[0]) ? args[0] : args;
    const options = connectOptions(list);
    const port = options['path'] ? undefined : portOf(options['port']);
    if (port === undefined || !(socket instanceof net.Socket)) return native(socket, args);
    const { zones, mode } = this.#network;
    const host = options['host'];
    if (isLabName(zones, host)) {
      // The port and the source depend on the address. So the look-up of the socket does not end: the socket is
      // connected anew, with the address. It keeps what was written to it meanwhile.
      const lookup = (_name: string, _options: unknown, failed: (error: Error) => void) =>
        this.#ask(host, (error, [address]) => {
          if (error !== null) return failed(error);
          if (!socket.connecting) return;
          socket.emit('lookup', null, address, 4, host);
          this.#connect(native, socket, [{ ...options, host: address }]);
        });
      return native(socket, [{ ...options, lookup }, ...callbackOf(list)]);
    }
    const to = attempt(() => this.#target(host, port, false));
    if (to === undefined) return native(socket, args);
    const localAddress = mode === 'ports' ? undefined : labAddress(this.#network, options['localAddress']);
    return native(socket, [{ ...options, ...to, localAddress }, ...callbackOf(list)]);
  }

  /** `send` and `connect` of datagram sockets; the port is argument number `at`, the address the next. */
  #send(native: Native, socket: object, args: Args, at: number): unknown {
    const port = portOf(args[at]);
    const isShort = typeof args[at + 1] === 'function';
    const host = isShort ? undefined : args[at + 1];
    if (port === undefined || typeof host === 'number') return native(socket, args);
    const aimed = (to: Endpoint) => [
      ...args.slice(0, at),
      to.port,
      to.host,
      ...args.slice(at + (isShort ? 1 : 2)),
    ];
    if (isLabName(this.#network.zones, host)) {
      return this.#ask(host, (error, [address = '']) => {
        if (error === null) return this.#send(native, socket, aimed({ host: address, port }), at);
        const [callback = (failure: Error) => Reflect.get(socket, 'emit').call(socket, 'error', failure)] =
          callbackOf(args);
        return Reflect.apply(callback, socket, [error]);
      });
    }
    const to = attempt(() => this.#target(host, port, true));
    const prefix = Reflect.get(socket, 'type') === 'udp6' ? '::ffff:' : '';
    this.#sending = to === undefined ? 'outside' : 'lab';
    try {
      return native(socket, to === undefined ? args : aimed({ host: prefix + to.host, port: to.port }));
    } finally {
      this.#sending = undefined;
    }
  }

  #lookup(native: Native, self: object, args: Args): unknown {
    const [name, options] = args;
    const [done] = callbackOf(args);
    if (done === undefined) return native(self, args);
    const { family, all }: Fields = isFields(options) ? options : { family: options };
    const tell: Answer = (error, addresses) => {
      const found = addresses.map((address) => ({ address, family: 4 }));
      if (error !== null) done(error);
      else if (all === true) done(null, found);
      else done(null, addresses[0], 4);
    };
    if (this.#isListening && typeof name === 'string' && net.isIPv4(name)) return tell(null, [name]);
    if (!isLabName(this.#network.zones, name)) return native(self, args);
    if (family === 6 || family === 'IPv6') return nextTick(tell, lookupError('ENOTFOUND', name), []);
    return this.#ask(name, tell);
  }
}

const isInside = (directory: string, path: string): boolean =>
  path === directory || path.startsWith(`${directory}/`);

/** Where a path of the container is on this machine, and by which mount; undefined when it is where it says. */
export function redirected(mounts: readonly Redirection[], path: string) {
  if (!path.startsWith('/')) return undefined;
  const clean = normalize(path);
  const mount = mounts
    .filter(({ mountPath }) => isInside(mountPath, clean))
    .reduce<Redirection | undefined>((a, b) => (a && a.mountPath.length >= b.mountPath.length ? a : b), undefined);
  if (mount === undefined) return undefined;
  // Node calls its own functions with paths that were redirected before, and the arguments of the program have such too.
  const isThere = ({ source }: Redirection) => source.length >= mount.mountPath.length && isInside(source, clean);
  return mounts.some(isThere) ? undefined : { mount, path: mount.source + clean.slice(mount.mountPath.length) };
}

/** The opposite, by the first mount that fits. */
function shown(mounts: readonly Redirection[], path: string): string {
  const mount = mounts.find(({ source }) => isInside(source, path));
  return mount === undefined ? path : mount.mountPath + path.slice(mount.source.length);
}

const ONE_PATH =
  'access appendFile chmod chown exists lchmod lchown lstat lutimes mkdir mkdtemp mkdtempDisposable open openAsBlob ' +
  'opendir readFile readdir readlink realpath rm rmdir stat statfs truncate unlink unwatchFile utimes watch watchFile ' +
  'writeFile';
const TWO_PATHS = 'copyFile cp link rename symlink';
const GIVES_PATH = /^(?:mkdir|mkdtemp|readlink|realpath)$/;

/** Shows a program its mounts where it looks for them (P8). Streams and patterns open files by the functions replaced here. */
class Redirections {
  readonly #mounts: readonly Redirection[];
  /** With what their sources turn out to be when links are followed, for the paths that Node gives back. */
  readonly #sources: readonly Redirection[];

  constructor(mounts: readonly Redirection[]) {
    this.#mounts = mounts;
    this.#sources = mounts
      .flatMap((mount) => [
        mount,
        { ...mount, source: attempt(() => fs.realpathSync(mount.source)) ?? mount.source },
      ])
      .toSorted((a, b) => b.source.length - a.source.length);
  }

  install(): void {
    for (const [names, paths] of [[ONE_PATH, 1] as const, [TWO_PATHS, 2] as const])
      for (const name of names.split(' ')) {
        const make = (native: Native) => (self: object, args: Args) =>
          this.#call(native, self, { name, args, paths });
        patch(fs, name, make);
        patch(fs, `${name}Sync`, make);
        patch(fs.promises, name, make);
      }
  }

  #call(
    native: Native,
    self: object,
    call: { readonly name: string; readonly args: Args; readonly paths: number },
  ) {
    const used: Redirection[] = [];
    const args = call.args.map((arg, at) => (at < call.paths ? this.#argument(arg, used) : arg));
    if (used.length === 0) return native(self, call.args);
    const first = this.#sources.filter(({ mountPath }) => used.some((mount) => mount.mountPath === mountPath));
    const back = (value: unknown) =>
      attempt(() => this.#result(call.name, [...first, ...this.#sources], value)) ?? value;
    const callback = args.at(-1);
    // Listeners stay as they are: they are told apart by identity, and get no paths.
    if (typeof callback === 'function' && !/watch/i.test(call.name))
      args[args.length - 1] = (...values: unknown[]) => Reflect.apply(callback, undefined, values.map(back));
    const fail = (error: unknown) => {
      throw back(error);
    };
    try {
      const result = native(self, args);
      return result instanceof Promise ? result.then(back, fail) : back(result);
    } catch (error) {
      return fail(error);
    }
  }

  #argument(value: unknown, used: Redirection[]): unknown {
    const path = attempt(() => {
      if (value instanceof URL) return fileURLToPath(value);
      return value instanceof Uint8Array ? Buffer.from(value).toString() : value;
    });
    const there = typeof path === 'string' ? redirected(this.#mounts, path) : undefined;
    if (there === undefined) return value;
    used.push(there.mount);
    return value instanceof Uint8Array ? Buffer.from(there.path) : there.path;
  }

  #result(name: string, sources: readonly Redirection[], value: unknown): unknown {
    if (typeof value === 'string') return GIVES_PATH.test(name) ? shown(sources, value) : value;
    if (value instanceof Error)
      for (const field of ['path', 'dest', 'message', 'stack']) {
        const text: unknown = Reflect.get(value, field);
        const put = (all: string, { source, mountPath }: Redirection) => all.replaceAll(source, mountPath);
        if (typeof text === 'string') Reflect.set(value, field, sources.reduce(put, text));
      }
    for (const entry of Array.isArray(value) ? value : [])
      if (isFields(entry) && typeof entry['parentPath'] === 'string')
        Reflect.set(entry, 'parentPath', shown(sources, entry['parentPath']));
    return value;
  }
}

const setting = (name: string): unknown => attempt(() => JSON.parse(env[name] ?? 'null'));

const isNetwork = (value: unknown): value is Network =>
  isFields(value) &&
  isFields(value['dns']) &&
  Array.isArray(value['zones']) &&
  typeof value['directory'] === 'string';

const isRedirection = (value: unknown): value is Redirection =>
  isFields(value) &&
  [value['mountPath'], value['source']].every((path) => typeof path === 'string' && path.length > 1);

function install(): void {
  const [network, mounts] = [setting('SLIPWAY_NETWORK'), setting('SLIPWAY_MOUNTS')];
  const redirections: Redirection[] = Array.isArray(mounts) ? mounts.filter(isRedirection) : [];
  if (isNetwork(network)) {
    const own = env['SLIPWAY_POD_ADDRESS'];
    new Rehoming({ ...network, own: own && labAddress(network, own) }).install();
    const { HOSTNAME } = env;
    // As in a container: programs tell their replicas apart by it.
    if (HOSTNAME) Reflect.set(os, 'hostname', () => HOSTNAME);
    if (redirections.length > 0) redirections.push({ mountPath: network.directory, source: network.directory });
  }
  if (redirections.length > 0) new Redirections(redirections).install();
  // So that names that are imported one by one are the new ones too.
  if (isNetwork(network) || redirections.length > 0) syncBuiltinESMExports();
}

/** When most programs have loaded what they need. */
const LOADED_MS = 2000;

/** Node keeps what it compiled when a program exits, which those that are killed never do. */
function keepCompiled(): void {
  if (env['NODE_COMPILE_CACHE']) setTimeout(() => attempt(() => module.flushCompileCache()), LOADED_MS).unref();
}

attempt(install);
attempt(keepCompiled);
