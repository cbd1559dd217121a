import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { userError } from '../../base/errors.ts';
import { parseYaml } from '../../object/yaml.ts';
import type { KubeClient } from '../client/kube-client.ts';
import { createRestMapper } from '../client/rest-mapper.ts';
import { applyObject } from './apply-object.ts';

/** Applies every document of a YAML text, in order; rejects at the first that is refused. Takes fields from others. */
export async function applyYamlText(client: KubeClient, clock: Clock, text: string): Promise<void> {
  const mapper = createRestMapper(client, clock);
  for (const object of documentsIn(text)) await applyObject({ client, mapper }, object, { force: true });
}

function documentsIn(text: string): readonly KubeObject[] {
  const documents = parseAllDocuments(text);
  if ('empty' in documents) return [];
  return documents
    .filter(({ contents }) => contents !== null)
    .map((document, at) => {
      const [problem] = document.errors;
      if (problem !== undefined) throw userError('InvalidYaml', `document ${at + 1}: ${problem.message}`);
      return parseYaml(document.toString({ directives: false })) as KubeObject;
    });
}
