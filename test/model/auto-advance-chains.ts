type Chain = readonly [scenario: unknown, steps: readonly (readonly [seconds: number, action: string])[]];

/** The steps of a payment with `autoAdvance` by scenario, in seconds after its creation. */
export const autoAdvanceChains: readonly Chain[] = [
  ['approve', [[1, 'capture']]],
  [
    'require_action',
    [
      [1, 'require_action'],
      [11, 'capture'],
    ],
  ],
  [
    'async',
    [
      [1, 'process'],
      [61, 'capture'],
    ],
  ],
  ['decline:lost_card', [[1, 'fail']]],
  [
    ['decline:do_not_honor', 'async'],
    [
      [1, 'fail'],
      [61, 'retry'],
      [62, 'process'],
      [122, 'capture'],
    ],
  ],
];
