import type { OpenshiftAssistedConfigSpec } from '../../api/agent/bootstrap-v1alpha2.ts';
import { userError } from '../../base/errors.ts';
import { isVariableName, type MetadataValue, metadataValue, strippedName } from './metadata-value.ts';

export interface NodeLabel {
  readonly key: string;
  readonly value: MetadataValue;
}

/** Who the node says it is when it registers. */
export interface NodeIdentity {
  readonly labels: readonly NodeLabel[];
  readonly providerId: MetadataValue | undefined;
  /** The variable with the name of the host. */
  readonly nameVariable: string | undefined;
}

// An example of upstream quotes its variable, and upstream's shell takes the quotes away. No label value has quotes.
const QUOTED_REFERENCE = /^"(\$[A-Za-z_][A-Za-z0-9_]*|\$\{[A-Za-z_][A-Za-z0-9_]*\})"$/;

/** Throws a user error that names the field, below `at`. */
export function nodeIdentity({ nodeRegistration }: OpenshiftAssistedConfigSpec, at = 'spec'): NodeIdentity {
  return {
    labels: labelsOf(nodeRegistration?.kubeletExtraLabels ?? [], at),
    providerId: providerIdOf(nodeRegistration?.providerID ?? '', at),
    nameVariable: nameVariable(nodeRegistration?.name ?? '', at),
  };
}

/** In the order of the list. Of entries with the same key the last one counts; entries without `=` are no labels. */
function labelsOf(entries: readonly string[], at: string): readonly NodeLabel[] {
  const valuesByKey = new Map<string, MetadataValue>();
  for (const [index, entry] of entries.entries()) {
    const split = entry.indexOf('=');
    if (split < 0) continue;
    const field = `${at}.nodeRegistration.kubeletExtraLabels[${index}]`;
    if (split === 0) {
      throw userError(
        'InvalidNodeLabel',
        `${field} has no key in front of "=": write it as key=value, or remove it`,
      );
    }
    const text = entry.slice(split + 1);
    const value = metadataValue(QUOTED_REFERENCE.exec(text)?.[1] ?? text, field, 'InvalidNodeLabel');
    valuesByKey.set(entry.slice(0, split), value);
  }
  return Array.from(valuesByKey, ([key, value]) => ({ key, value }));
}

function providerIdOf(providerID: string, at: string): MetadataValue | undefined {
  const text = providerID.trim();
  return text === '' ? undefined : metadataValue(text, `${at}.nodeRegistration.providerID`, 'InvalidProviderID');
}

/** The variable that names the host; also without `$`. Throws a user error when it is no variable. */
export function nameVariable(name: string, at = 'spec'): string | undefined {
  if (name === '') return undefined;
  const variable = strippedName(name);
  if (isVariableName(variable)) return variable;
  throw userError(
    'InvalidNodeName',
    `${at}.nodeRegistration.name must be a variable of the metadata such as $METADATA_NAME, not ${JSON.stringify(name)}: ` +
      'name the variable, or remove the field and let the network name the host',
  );
}
