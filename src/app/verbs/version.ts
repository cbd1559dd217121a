import { IMAGE_SETTING, releaseImage, releaseVersion } from '../release.ts';
import type { SettingTable } from '../settings.ts';
import { defineVerb } from '../verb.ts';

const settings = { image: IMAGE_SETTING } as const satisfies SettingTable;

/** Prints what is installed: the facts a bug report needs. */
export const versionVerb = defineVerb({
  name: 'version',
  group: 'when something is wrong',
  summary: 'print the versions of Slipway, of the Node it runs on, and the name of its image',
  examples: ['slipway version', 'slipway version --output json'],
  settings,
  load:
    async () =>
    async (context, { image }) => {
      const facts = {
        version: releaseVersion(),
        node: process.versions.node,
        platform: `${process.platform}-${process.arch}`,
        image: image ?? releaseImage(),
      };
      const text = `slipway ${facts.version}\nnode    ${facts.node} (${facts.platform})\nimage   ${facts.image}`;
      context.output.result(text, facts);
      return 0;
    },
});
