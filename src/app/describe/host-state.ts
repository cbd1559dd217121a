import type { KubeObject } from '../../api/object.ts';
import { generalState } from './general-state.ts';
import { isTrueAt, textAt } from './object-fields.ts';
import { kubectl, type State, secretCommand } from './row.ts';
import { oneLine, sinceTold } from './told-condition.ts';

/** States of a BareMetalHost in which work goes on. */
const BUSY: ReadonlySet<string> = new Set([
  'registering',
  'inspecting',
  'preparing',
  'provisioning',
  'deprovisioning',
  'deleting',
  'powering off before delete',
]);

/** BareMetalHost. */
export function hostState(host: KubeObject, at: Date): State {
  const general = generalState(host, at);
  const error = oneLine(textAt(host, 'status', 'errorMessage'));
  const since = textAt(host, 'status', 'lastUpdated') || sinceTold(host);
  if (error !== '' && general?.word !== 'deleting') return { since, ...errorState(host, error) };
  return general ?? { since, ...lifeState(host) };
}

/** Where it is in its life. */
function lifeState(host: KubeObject): State {
  const state = textAt(host, 'status', 'provisioning', 'state');
  if (state === 'provisioned' || state === 'externally provisioned') return powerState(host, state);
  if (BUSY.has(state)) return { health: 'working', word: state };
  if (state === 'available' || state === 'ready') return availableState(host);
  if (state !== 'unmanaged') return { health: 'waiting', word: state || 'not registered' };
  return {
    health: 'attention',
    word: 'unmanaged',
    why: 'it has no BMC: spec.bmc is empty',
    next: kubectl(host, 'edit'),
  };
}

function errorState(host: KubeObject, error: string): State {
  const secret = textAt(host, 'spec', 'bmc', 'credentialsName');
  const type = textAt(host, 'status', 'errorType');
  const isAboutCredentials = /\b401\b|credential|unauthori[sz]ed|authentication/i.test(error) && secret !== '';
  const isOff = textOfPower(host) === 'off';
  return {
    health: 'failed',
    word: isOff ? 'powered off' : type || 'error',
    why: isAboutCredentials ? `${error}: check credentials Secret ${secret}` : error,
    next: isAboutCredentials ? secretCommand(host, secret) : kubectl(host, 'describe'),
  };
}

function textOfPower(host: KubeObject): 'on' | 'off' | 'unknown' {
  if (isTrueAt(host, 'status', 'poweredOn')) return 'on';
  return textAt(host, 'status', 'operationalStatus') === '' ? 'unknown' : 'off';
}

function powerState(host: KubeObject, state: string): State {
  if (textOfPower(host) !== 'off') return { health: 'done', word: state };
  const isWanted = isTrueAt(host, 'spec', 'online');
  const address = textAt(host, 'spec', 'bmc', 'address');
  return {
    health: 'attention',
    word: 'powered off',
    why: isWanted ? 'it should be on, and is not' : 'spec.online is false',
    next: isWanted
      ? `see at the BMC ${address} why the host of ${host.metadata.name} is off`
      : kubectl(host, 'patch', `--type merge -p '{"spec":{"online":true}}'`),
  };
}

const UNUSED: Readonly<Record<string, string>> = {
  detached: 'it is detached: the baremetal-operator does not touch it',
  discovered: 'it was discovered, and nobody has given it a BMC',
};

function availableState(host: KubeObject): State {
  const why = UNUSED[textAt(host, 'status', 'operationalStatus')];
  return why === undefined
    ? { health: 'waiting', word: 'available', why: 'it waits for the image to be put on it' }
    : { health: 'attention', word: 'not available', why, next: kubectl(host, 'edit') };
}
