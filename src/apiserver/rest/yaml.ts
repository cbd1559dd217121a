import type { Json } from '../../object/json.ts';
import type { ParsedJson } from '../../object/json-text.ts';
import { parseJsonAsYaml } from '../../object/yaml-json.ts';
import { pause } from './pause.ts';

/**
 * A YAML body. What is JSON, as all that controllers apply, is read without the YAML library: loading it takes a tenth of
 * a cold start.
 */
export async function readYaml(bytes: Uint8Array): Promise<ParsedJson> {
  const text = Buffer.from(bytes).toString('utf8');
  const json = parseJsonAsYaml(text);
  if (json !== undefined) return json;
  const { yamlBodySteps } = await import('../../object/yaml-body.ts');
  const steps = yamlBodySteps(text);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    await pause();
  }
}

export async function writeYaml(value: Json): Promise<Uint8Array> {
  const { printYamlBody } = await import('../../object/yaml-print.ts');
  return Buffer.from(printYamlBody(value));
}
