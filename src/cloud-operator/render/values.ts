import { terminalError } from '../../base/errors.ts';
import type { CloudProviderDefinition, RenderContext } from '../definition.ts';
import { cloudNameOf } from './common-objects.ts';
import type { TemplateValues } from './template.ts';

/**
 * What templates of a provider may name: what every template has, and what its definition adds. Throws when an image or a
 * value is missing that must be there (R20): only an edit of the configuration helps.
 */
export function templateValues(definition: CloudProviderDefinition, context: RenderContext): TemplateValues {
  const images = imageValues(definition, context);
  const values = {
    infrastructureName: context.infra.status?.infrastructureName ?? '',
    cloudproviderName: cloudNameOf(definition, context),
    managedNamespace: context.managedNamespace,
    featureGates: context.ccmFeatureGates,
    tlsMinVersion: context.tls.minVersion,
    tlsCipherSuites: context.tls.cipherSuites,
    ...definition.values?.(context),
  };
  const missing = (definition.requiredValues ?? []).filter((name) => (valueOf(values, name) ?? '') === '');
  if (missing.length > 0) {
    const text = `can not construct template values for ${definition.id} assets: ${listed(missing)}`;
    throw terminalError('MissingTemplateValues', text);
  }
  return { ...values, images };
}

const valueOf = (values: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;

/** By their fields; those that may be absent are empty then, so that templates can ask for them. */
function imageValues({ id, images }: CloudProviderDefinition, context: RenderContext): TemplateValues {
  const bindings = Object.entries(images).map(([key, binding]) => ({ key, ...binding }));
  const missing = bindings.filter(({ key, optional }) => optional !== true && !context.images.get(key));
  if (missing.length > 0) {
    const names = missing.map(({ key, field = key }) => field);
    const keys = missing.map(({ key }) => key).toSorted();
    throw terminalError(
      'MissingImages',
      `${id}: missed images in config: ${listed(names)} (images.json lacks ${keys.join(', ')})`,
    );
  }
  return Object.fromEntries(
    bindings.flatMap(({ key, field }) => (field === undefined ? [] : [[field, context.images.get(key) ?? '']])),
  );
}

const listed = (names: readonly string[]): string =>
  names
    .toSorted()
    .map((name) => `${name}: non zero value required`)
    .join(';');
