import { type FieldError, invalid, notSupported, required } from '../../object/field-error.ts';
import type { JsonObject } from '../../object/json.ts';
import type { Strategy, WriteContext } from '../registry/resource.ts';
import {
  copyKey,
  ensureObject,
  has,
  numberAt,
  objectsAt,
  specOf,
  statusOf,
  textAt,
  textsAt,
  timestampOf,
} from './fields.ts';
import { kindStrategy } from './kind-strategy.ts';

const SHORTEST_SECONDS = 600;
const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];

/** Requests for certificates: who asks is what authentication says, not what the body says. */
export const certificateRequestStrategy = (): Strategy =>
  kindStrategy({
    type: 'certificates.v1.CertificateSigningRequest',
    selectableFields: { 'spec.signerName': (request) => textAt(specOf(request), 'signerName') },
    newStatus: () => ({}),
    onCreate: setRequester,
    onUpdate: (request, old) => copyKey(request, old, 'spec'),
    onSubresource: keepConditions,
    validate: (request, { subresource }) => (subresource === '' ? checkRequest(specOf(request)) : []),
  });

function setRequester(request: JsonObject, { user }: WriteContext): void {
  const spec = ensureObject(request, 'spec');
  for (const key of ['uid', 'extra']) delete spec[key];
  spec['username'] = user.name;
  if (user.groups.length > 0) spec['groups'] = [...user.groups];
  else delete spec['groups'];
}

const isDecision = (condition: JsonObject): boolean => ['Approved', 'Denied'].includes(textAt(condition, 'type'));

/** `/approval` writes decisions and nothing else, `/status` everything else. */
function keepConditions(request: JsonObject, old: JsonObject, { subresource, now: time }: WriteContext): void {
  const [now, before] = [objectsAt(statusOf(request), 'conditions'), objectsAt(statusOf(old), 'conditions')];
  const isApproval = subresource === 'approval';
  const own = now.filter((condition) => isDecision(condition) === isApproval);
  for (const condition of own) stamp(condition, before, timestampOf(time));
  const kept = before.filter((condition) => isDecision(condition) !== isApproval);
  if (isApproval) {
    copyKey(request, old, 'spec');
    request['status'] = { ...statusOf(old) };
  }
  const conditions = isApproval ? [...own, ...kept] : [...kept, ...own];
  const status = ensureObject(request, 'status');
  if (conditions.length > 0) status['conditions'] = conditions;
  else delete status['conditions'];
}

/** Times nobody gave: a condition that was there keeps when it began. */
function stamp(condition: JsonObject, before: readonly JsonObject[], time: string): void {
  if (!has(condition, 'lastUpdateTime')) condition['lastUpdateTime'] = time;
  if (has(condition, 'lastTransitionTime')) return;
  const known = before.find(
    (item) =>
      textAt(item, 'type') === textAt(condition, 'type') && textAt(item, 'status') === textAt(condition, 'status'),
  );
  condition['lastTransitionTime'] = known?.['lastTransitionTime'] ?? time;
}

function checkRequest(spec: JsonObject): readonly FieldError[] {
  const request = textAt(spec, 'request');
  const isPem = Buffer.from(request, 'base64').toString().includes('-----BEGIN CERTIFICATE REQUEST-----');
  const usages = textsAt(spec, 'usages');
  const seconds = numberAt(spec, 'expirationSeconds');
  const isShort = seconds !== undefined && seconds < SHORTEST_SECONDS;
  return [
    ...(isPem ? [] : [invalid('spec.request', request, 'PEM block type must be CERTIFICATE REQUEST')]),
    ...(usages.length === 0 ? [required('spec.usages')] : []),
    ...usages.flatMap((usage, index) =>
      USAGES.includes(usage) ? [] : [notSupported(`spec.usages[${index}]`, usage, USAGES)],
    ),
    ...checkSigner(textAt(spec, 'signerName')),
    ...(isShort
      ? [
          invalid(
            'spec.expirationSeconds',
            seconds,
            'may not specify a duration less than 600 seconds (10 minutes)',
          ),
        ]
      : []),
  ];
}

function checkSigner(name: string): readonly FieldError[] {
  if (name === '') return [required('spec.signerName')];
  const [domain = '', path = ''] = name.split('/');
  const why = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
  return domain.includes('.') && path !== '' ? [] : [invalid('spec.signerName', name, why)];
}
