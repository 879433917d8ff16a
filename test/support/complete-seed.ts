/** A seed with every field. */
export const completeSeed = {
  organizations: [
    {
      name: 'Acme',
      users: [{ email: 'dev@acme.test', password: 'correct horse battery', role: 'owner', takeOver: true }],
      applications: [
        {
          name: 'web',
          fee: { basisPoints: 290, fixedAmount: 30 },
          provider: 'meridian',
          fx: { marginBasisPoints: 0, rates: { 'EUR/USD': '1.25' } },
          webhookDefaults: { eventTypes: ['payment.*'], retryProfile: 'fast', maxConcurrency: 1 },
          webhooks: [
            {
              url: 'http://127.0.0.1:9000/',
              secret: `whsec_${'A'.repeat(43)}=`,
              description: 'orders',
              eventTypes: ['*'],
              retryProfile: 'none',
              maxConcurrency: 64,
            },
          ],
          apiKeys: [
            {
              name: 'ci',
              key: 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ01',
              scopes: ['payments:read'],
              expiresAt: '2030-01-01T00:00:00Z',
              allowedCidrs: ['10.0.0.0/8'],
              mayReset: true,
              revoked: false,
            },
          ],
        },
      ],
    },
  ],
};
