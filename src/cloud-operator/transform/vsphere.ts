import { SlipwayError } from '../../base/errors.ts';
import type { TransformContext } from '../definition.ts';
import { cloudConfigProblem, during, wrongPlatform } from './problem.ts';
import { printVSphereConfig, type VSphereConfig } from './vsphere-config.ts';
import { readVSphereIni } from './vsphere-legacy.ts';
import { overlayInfrastructure } from './vsphere-overlay.ts';
import { readVSphereYaml } from './vsphere-yaml.ts';

/** R74, R75: the source as YAML, with what the Infrastructure object knows better. */
export function vSphereCloudConfig(source: string, context: TransformContext): string {
  if (context.infra.status?.platformStatus?.type !== 'VSphere') throw wrongPlatform('to be VSphere');
  const { config, unknown } = during('failed to read the cloud.conf', () => readConfig(source));
  if (unknown.length > 0) {
    context.warn(
      `left out, since the cloud controller manager of vSphere does not know it: ${unknown.join(', ')}`,
    );
  }
  overlayInfrastructure(config, context);
  return printVSphereConfig(config);
}

function readConfig(source: string): { readonly config: VSphereConfig; readonly unknown: readonly string[] } {
  if (source === '') throw cloudConfigProblem('vSphere config is empty');
  const unknownYaml: string[] = [];
  const unknownIni: string[] = [];
  try {
    return { config: during('as YAML', () => readVSphereYaml(source, unknownYaml)), unknown: unknownYaml };
  } catch (yaml) {
    if (!(yaml instanceof SlipwayError)) throw yaml;
    try {
      return { config: during('as INI', () => readVSphereIni(source, unknownIni)), unknown: unknownIni };
    } catch (ini) {
      throw SECTION.test(source) ? ini : yaml;
    }
  }
}

/** Whoever has written one means INI. */
const SECTION = /^\s*\[/m;
