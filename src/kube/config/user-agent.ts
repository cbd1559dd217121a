/** The server takes no longer name of a field manager. */
const MAX_FIELD_MANAGER = 128;

const GO_PLATFORM: ReadonlyMap<string, string> = new Map([['win32', 'windows']]);
const GO_ARCH: ReadonlyMap<string, string> = new Map([
  ['x64', 'amd64'],
  ['ia32', '386'],
]);

export interface UserAgentParts {
  /** Name of the program; of a path, its last part. */
  readonly binary: string;
  readonly version: string;
  /** Of slipway itself. */
  readonly commit: string;
  /** For the client of one controller. */
  readonly controller?: string;
  /** As Node names them; of this process unless told otherwise. */
  readonly platform?: string;
  readonly arch?: string;
}

/** `<binary>/<version> (<os>/<arch>) slipway/<commit>[/<controller>]` (C6), with Go's names, as audit logs have them. */
export function userAgent(parts: UserAgentParts): string {
  const { platform = process.platform, arch = process.arch, controller } = parts;
  const binary = word(parts.binary.split(/[/\\]/).findLast((part) => part !== '') ?? '');
  const host = `${GO_PLATFORM.get(platform) ?? platform}/${GO_ARCH.get(arch) ?? arch}`;
  const suffix = controller === undefined ? '' : `/${word(controller)}`;
  return `${binary}/${word(parts.version)} (${host}) slipway/${word(parts.commit)}${suffix}`;
}

/** What a header may hold and what does not look like a separator. */
const word = (text: string): string => text.replaceAll(/[^A-Za-z0-9._+~-]+/g, '-') || 'unknown';

/** The owner of the fields that a client writes, unless it says otherwise: the text before the first `/` (C6). */
export function defaultFieldManager(agent: string): string {
  const end = agent.indexOf('/');
  return (end < 0 ? agent : agent.slice(0, end)).slice(0, MAX_FIELD_MANAGER);
}
