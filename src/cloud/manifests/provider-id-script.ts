import { isIPv6 } from 'node:net';
import type { MetadataFacts } from '../../sdk/capabilities/metadata.ts';
import type { ProviderDefinition } from '../../sdk/provider/provider-definition.ts';

/** Where the kubelet's unit takes the provider ID from (O14). */
export const DROP_IN = '/etc/systemd/system/kubelet.service.d/20-providerid.conf';

/** What a machine can find out by itself, or why it cannot. */
export type ProviderIdScript = { readonly text: string } | { readonly missing: string };

/** Only the facts of the definition that the script is made from. */
type Facts = Pick<ProviderDefinition, 'name' | 'providerID' | 'capabilities'>;

/**
 * A script that a machine runs before its kubelet: it asks the metadata service who it is and writes that where the
 * kubelet reads it (O14, O15). Without it, nodes are found by name, which is only right where names are unique for ever.
 */
export function providerIdScript({ name, providerID, capabilities }: Facts): ProviderIdScript {
  const facts = capabilities.metadata?.declare();
  if (facts === undefined) return { missing: 'the definition has no metadata capability' };
  const other = providerID.format.replace(/\{(id|zone)\}/g, '').match(/[^A-Za-z0-9._~:/@+=,-]/)?.[0];
  if (other !== undefined) return { missing: `provider IDs hold "${other}", which a unit of systemd may not` };
  const needsZone = providerID.format.includes('{zone}');
  if (needsZone && facts.paths.zone === undefined) {
    return { missing: `provider IDs hold the zone (${providerID.format}), and the metadata has no path for it` };
  }
  const paths = { id: facts.paths.instanceId, ...(needsZone && { zone: facts.paths.zone ?? '' }) };
  return { text: scriptText(name, facts, { scheme: providerID.scheme, format: providerID.format, paths }) };
}

interface Identity {
  readonly scheme: string;
  readonly format: string;
  /** Of what `{id}` and, where it is part of the format, `{zone}` stand for. */
  readonly paths: { readonly id: string; readonly zone?: string };
}

/** A word that the shell takes as it is. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const headerArguments = (headers: Readonly<Record<string, string>> = {}): string =>
  Object.entries(headers)
    .map(([name, value]) => ` --header ${quoted(`${name}: ${value}`)}`)
    .join('');

const baseUrl = (address: string, port: number | undefined): string =>
  `http://${isIPv6(address) ? `[${address}]` : address}${port === undefined ? '' : `:${port}`}`;

const scriptText = (name: string, facts: MetadataFacts, identity: Identity): string =>
  [opening(name), asking(facts), finding(facts, identity.paths), writing(identity)].join('\n');

const opening = (name: string): string => `#!/bin/bash
# Gives the kubelet the provider ID of this machine. Made for ${name}.
set -euo pipefail

# Set by tests only.
root=\${KUBELET_PROVIDERID_ROOT:-}
drop_in=$root${DROP_IN}
attempts=30
pause_seconds=2

if [[ -s $drop_in ]]; then
  exit 0
fi
`;

const asking = (
  facts: MetadataFacts,
): string => `# The metadata service is on this side of any proxy. What it answers beside a redirection is no answer.
ask() {
  curl --silent --show-error --fail --globoff --location --max-redirs 0 --noproxy '*' \\
    --connect-timeout 2 --max-time 5 --max-filesize 4096 "$@"
}
${tokenFunction(facts)}
# Answers without the blanks around it; fails when nothing else is there.
value_at() {
  local base=$1 path=$2 answer
  shift 2
  answer=$(ask${headerArguments(facts.headers)} "$@" "$base$path") || return 1
  answer=\${answer#"\${answer%%[![:space:]]*}"}
  answer=\${answer%"\${answer##*[![:space:]]}"}
  [[ -n $answer ]] || return 1
  printf '%s' "$answer"
}
`;

function finding(facts: MetadataFacts, paths: Identity['paths']): string {
  const token = facts.token === undefined ? [] : ['token=$(fetch_token "$base") || return 1'];
  const values = Object.entries(paths).map(
    ([variable, path]) => `${variable}=$(value_at "$base" ${quoted(path)}${tokenArgument(facts)}) || return 1`,
  );
  return `identify() {
  local base=$1${facts.token === undefined ? '' : ' token'}
  ${[...token, ...values].join('\n  ')}
}

find_identity() {
  local attempt base
  for ((attempt = 1; attempt <= attempts; attempt++)); do
    for base in ${facts.addresses.map((address) => quoted(baseUrl(address, facts.port))).join(' ')}; do
      if identify "$base"; then
        return 0
      fi
    done
    sleep "$pause_seconds"
  done
  return 1
}

if ! find_identity; then
  echo "The metadata service has not said who this machine is, asked $attempts times" >&2
  exit 1
fi
`;
}

function writing({ scheme, format }: Identity): string {
  const word = `${scheme}://${format}`
    .split(/(\{(?:id|zone)\})/)
    .filter((part) => part !== '')
    .map((part) => (/^\{(id|zone)\}$/.test(part) ? `"$${part.slice(1, -1)}"` : quoted(part)))
    .join('');
  return `provider_id=${word}
# Nothing that systemd would read as something else.
if [[ ! $provider_id =~ ^[A-Za-z0-9._~:/@+=,-]+$ ]]; then
  echo "The metadata service answers what no provider ID can hold: $provider_id" >&2
  exit 1
fi

folder=$(dirname "$drop_in")
mkdir -p "$folder"
# Under a name that systemd does not read, until it is complete.
unfinished=$(mktemp "$folder/.providerid.XXXXXX")
trap 'rm -f "$unfinished"' EXIT
printf '[Service]\\nEnvironment="KUBELET_PROVIDERID=%s"\\n' "$provider_id" >"$unfinished"
chmod 0644 "$unfinished"
mv "$unfinished" "$drop_in"
systemctl daemon-reload
`;
}

function tokenFunction({ token, headers }: MetadataFacts): string {
  if (token === undefined) return '';
  const sent = headerArguments({ ...headers, ...token.requestHeaders });
  return `
fetch_token() {
  local answer
  answer=$(ask --request ${token.method}${sent} "$1"${quoted(token.path)}) || return 1
  [[ -n $answer ]] || return 1
  printf '%s' "$answer"
}
`;
}

const tokenArgument = ({ token }: MetadataFacts): string =>
  token === undefined ? '' : ` --header ${quoted(`${token.header}: `)}"$token"`;
