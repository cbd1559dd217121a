import { causeChain, messageOf, SlipwayError } from '../../base/errors.ts';
import { refusalOf } from '../apiserver/store-refusal.ts';
import type { PhaseFailure } from '../journey/phase.ts';

/** What failed, in a few words, and what is known besides the error. */
export interface LabFailure {
  readonly detail: string;
  readonly look?: readonly string[];
  readonly next?: readonly string[];
}

/** Every cause has its own way on (SW1108). A line that ends with a colon says when the command after it works. */
export function labFailure(error: unknown, { detail, look = [], next = [] }: LabFailure): PhaseFailure {
  const cause = causeOf(error);
  return {
    health: 'failed',
    detail,
    cause,
    code: refusalOf(error)?.code ?? 'SW1108',
    look,
    next: [...wayOn(error), ...next],
  };
}

/** One line: the picture of a wait in vain has many, of which the newest warning says most. */
function causeOf(error: unknown): string {
  const [first = '', ...rest] = messageOf(error).split('\n');
  const line =
    rest.findLast((text) => / Warning /.test(text)) ??
    rest.find((text) => /^ {2}container .* not ready/.test(text));
  return line === undefined ? first : `${first}; ${line.trim()}`;
}

function wayOn(error: unknown): readonly string[] {
  for (const cause of causeChain(error)) {
    const key = cause instanceof SlipwayError ? cause.reason : errno(cause);
    if (Object.hasOwn(WAYS, key)) return WAYS[key] ?? [];
  }
  return [];
}

const errno = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';

const DOCTOR = 'npx slipway doctor';
const OTHER_FOLDER = 'with a folder of its own:';

/** By reason, or by what the system says. The command to go on follows. */
const WAYS: Readonly<Record<string, readonly string[]>> = {
  NetworksInUse: ['once one of the labs is stopped:'],
  LabNetworkTaken: ['once the other lab is stopped, or with another --data:'],
  NetworkUnavailable: [DOCTOR, 'with network: ports in the scenario:'],
  NamespaceRefused: [DOCTOR, 'with isolation: auto in the scenario:'],
  DataPathTooLong: ['with a shorter --data:'],
  NodeRootTooLong: ['with a shorter --data:'],
  NoShell: ['once a shell is at /bin/sh:'],
  CloudStateInUse: ['once the other lab is stopped, or with another --data:'],
  CloudStateDamaged: [OTHER_FOLDER],
  CloudStateFormat: [OTHER_FOLDER],
  InvalidCloudOptions: ['with the scenario corrected:'],
  NoClientAuthority: ['with the kubeconfig of an administrator in the scenario:'],
  EMFILE: ['ulimit -n 4096'],
  ENFILE: ['once other programs have closed files:'],
  EAGAIN: ['ulimit -u 4096'],
  ENOMEM: ['once there is memory:'],
  ENOSPC: ['once there is room on the disk:'],
  EDQUOT: ['once there is room on the disk:'],
  EACCES: ['with a --data that you may write to:'],
  EPERM: ['with a --data that you may write to:'],
  EROFS: ['with a --data that you may write to:'],
};
