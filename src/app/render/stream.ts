import type { KubeObject } from '../../api/object.ts';
import { printYaml } from '../../object/yaml.ts';

/** Objects as documents of one text. */
export const streamText = (objects: readonly KubeObject[]): string =>
  objects.map((object) => printYaml(object)).join('---\n');
