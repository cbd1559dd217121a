import { doubleQuoted, inDoubleQuotes, type MetadataValue, singleQuoted, variablesOf } from '../metadata-value.ts';
import type { NodeLabel } from '../node-labels.ts';

/**
 * `kubelet_custom_labels`: adds the labels, and the provider ID, to what kubelet's unit reads. Variables come from
 * `/etc/metadata_env` and nowhere else; each is read once.
 */
export function kubeletLabelsScript(labels: readonly NodeLabel[], providerId: MetadataValue | undefined): string {
  const values = [...labels.map(({ value }) => value), ...(providerId === undefined ? [] : [providerId])];
  const variables = [...new Set(values.flatMap(variablesOf))];
  const pairs = labels.map(({ key, value }) => `${doubleQuoted(key)}=${inDoubleQuotes(value)}`);
  return [
    '#!/bin/bash',
    '# Tells kubelet the labels of its node. What users wrote is data here: it is never run.',
    '',
    "# Bash's own echo takes some texts for options.",
    `echo() { printf '%s\\n' "$1"; }`,
    '',
    ...variables.flatMap(readVariable),
    toKubelet(`CUSTOM_KUBELET_LABELS=${pairs.join(',')}`),
    ...(providerId === undefined ? [] : providerIdLines(providerId)),
    '',
  ].join('\n');
}

/** The last line counts, as it does for systemd. */
const readVariable = (name: string): readonly string[] => [
  `${name}=""`,
  'if [ -f /etc/metadata_env ]; then',
  `    ${name}=$(/usr/bin/grep "^${name}=" /etc/metadata_env | /usr/bin/tail -n 1 | /usr/bin/cut -d'=' -f2-)`,
  'fi',
];

const toKubelet = (quoted: string): string => `echo "${quoted}" >> /etc/kubernetes/kubelet-env || exit 1`;

/** The file has the text with its variables, unless it is nothing but one: the injector expands the rest. */
const providerIdLines = (providerId: MetadataValue): readonly string[] => [
  toKubelet(`KUBELET_PROVIDERID=${inDoubleQuotes(providerId)}`),
  providerId.isReference
    ? `echo "${inDoubleQuotes(providerId)}" > /run/kubelet-provider-id`
    : `echo ${singleQuoted(providerId.text)} > /run/kubelet-provider-id`,
];
