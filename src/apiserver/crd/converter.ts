import type { JsonObject } from '../../object/json.ts';
import { apiVersionOf, type Resource } from '../registry/resource.ts';
import type { Converter } from '../rest/codec.ts';
import { type CallWebhook, convertObjects } from './convert.ts';
import { isCustomResource } from './custom-resource.ts';
import type { Conversion } from './definition.ts';

/** Turns objects of a built-in kind into another version of it; undefined when the kind has one form only. */
export type BuiltinConversion = (object: JsonObject, to: Resource) => JsonObject;

export interface ConverterOptions {
  /** How the definition of a custom resource converts, by `plural.group`. */
  readonly conversionOf: (name: string) => Conversion | undefined;
  readonly callWebhook: CallWebhook;
  readonly uuid: () => string;
  readonly builtin: BuiltinConversion;
}

/** Between the versions of a resource, whoever defines it. */
export function createConverter({ conversionOf, callWebhook, uuid, builtin }: ConverterOptions): Converter {
  return {
    convert(objects, to) {
      if (isCustomResource(to)) {
        const conversion = conversionOf(`${to.plural}.${to.group}`);
        return convertObjects(objects, to, { conversion, callWebhook, uuid });
      }
      const wanted = apiVersionOf(to);
      return objects.map((object) => (object['apiVersion'] === wanted ? object : builtin(object, to)));
    },
  };
}
