import type { JsonObject } from '../../object/json.ts';
import type { Strategy } from '../registry/resource.ts';
import { objectsAt, optionalAt, setDefault, specOf } from './fields.ts';
import { kindStrategy } from './kind-strategy.ts';

/** Policies of admission and their bindings: they are kept with their defaults; nothing evaluates them yet. */
export const admissionPolicyStrategy = (kind: string): Strategy =>
  kindStrategy({
    type: `admissionregistration.v1.${kind}`,
    tracksGeneration: true,
    allowsUnconditionalUpdate: false,
    ...(kind === 'ValidatingAdmissionPolicy' && { newStatus: () => ({}) }),
    setDefaults(object) {
      const spec = specOf(object);
      if (!kind.endsWith('Binding')) setDefault(spec, 'failurePolicy', 'Fail');
      for (const key of ['matchConstraints', 'matchResources']) {
        const match = optionalAt(spec, key);
        if (match !== undefined) matchDefaults(match);
      }
    },
  });

function matchDefaults(match: JsonObject): void {
  setDefault(match, 'matchPolicy', 'Equivalent');
  setDefault(match, 'namespaceSelector', {});
  setDefault(match, 'objectSelector', {});
  for (const key of ['resourceRules', 'excludeResourceRules']) {
    for (const rule of objectsAt(match, key)) setDefault(rule, 'scope', '*');
  }
}
