/** Runs the ```console blocks of the pages whose commands take seconds. */
import { testBlocksOf } from '../../support/page-blocks.ts';
import { LONG_PAGES } from '../../support/pages.ts';

testBlocksOf(LONG_PAGES);
