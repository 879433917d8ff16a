import { useRead } from '../client/queries.ts';
import { useScope } from '../client/scope.ts';
import { CodeButton } from '../code/code-button.tsx';
import { Runner } from '../code/runner.tsx';
import { useAllowed } from '../frame/session.tsx';
import type { Application } from '../generated/shapes.ts';
import { Anchor } from '../parts/anchor.tsx';
import { buttonClass } from '../parts/button.tsx';
import { CodeBlock } from '../parts/code-block.tsx';
import { IdText } from '../parts/copy-button.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { DocsLink } from './docs-link.tsx';
import { FeatureCards } from './start/feature-cards.tsx';
import { useProgress } from './start/progress.ts';
import { createPayment, createWebhook } from './start/requests.ts';
import { Step } from './start/step.tsx';
import { OpenInboxButton } from './webhooks/open-inbox.tsx';
import { openInbox } from './webhooks/requests.ts';

/** Five steps from nothing to a delivered webhook. The page marks completed steps automatically. */
export function Start() {
  const { hasKey, hasPayment, hasWebhook, hasDelivery } = useProgress();
  const marks = [true, hasKey, hasPayment, hasWebhook, hasDelivery];
  const done = marks.filter((mark) => mark === true).length;
  const isLoading = marks.includes(undefined);
  return (
    <>
      <PageHeader
        title="Quick start"
        description={`From an API key to a delivered webhook in five steps.${
          isLoading ? '' : ` ${done} of ${marks.length} are done.`
        }`}
      />
      <ol className="max-w-3xl" aria-busy={isLoading || undefined}>
        <ApplicationStep />
        <KeyStep isDone={hasKey} />
        <Step number={3} title="Create the first payment" isDone={hasPayment}>
          <p className="text-muted">
            Amounts are integers in minor units: 1250 is 12.50 EUR. A retry with the same Idempotency-Key does
            not create a second payment.
          </p>
          <Runner title="Create a payment" request={createPayment} />
          <p className="text-muted">
            With <code className="font-mono text-sm">autoAdvance</code> it is authorized and captured
            automatically. <Anchor to="payments">View your payments</Anchor>.
          </p>
        </Step>
        <Step number={4} title="Receive events with a webhook" isDone={hasWebhook}>
          <p className="text-muted">
            Without a receiver of your own, open an inbox: it receives, verifies and shows every event. See
            the <DocsLink to="/docs/events">event types</DocsLink>.
          </p>
          <div className="flex flex-wrap items-center gap-2">
            <OpenInboxButton
              label="Open webhook inbox"
              variant={hasWebhook === false ? 'primary' : 'plain'}
            />
            <CodeButton title="Webhook inbox" requests={[openInbox]} />
          </div>
          <p className="text-muted">
            Or send the events to your own server. Use a URL that accepts POST requests. The response contains
            the signing secret, which is shown only once.
          </p>
          <Runner title="Create a webhook" request={createWebhook} />
          <p className="text-muted">
            Or create it <Anchor to="webhooks">in the console</Anchor>.
          </p>
        </Step>
        <Step number={5} title="Check the first delivery" isDone={hasDelivery}>
          <p className="text-muted">
            Create another payment, or send a test event from the webhook’s page. Every attempt is stored with
            its request and response.
          </p>
          <div>
            <Anchor to="webhooks" className={buttonClass()}>
              Open webhooks
            </Anchor>
          </div>
        </Step>
      </ol>
      <div className="mt-10">
        <FeatureCards />
      </div>
    </>
  );
}

function ApplicationStep() {
  const { appId } = useScope();
  const { data } = useRead<Application>(`org/applications/${appId}`);
  return (
    <Step number={1} title="Application" isDone>
      <p className="flex flex-wrap items-center gap-x-2 text-muted">
        {data === undefined ? 'You have an application.' : `You are using ${data.name}.`}
        {appId === null ? null : <IdText id={appId} what="application id" />}
        <Anchor to="applications">All applications</Anchor>
      </p>
    </Step>
  );
}

function KeyStep({ isDone }: { readonly isDone: boolean | undefined }) {
  const mayCreate = useAllowed('developer');
  return (
    <Step number={2} title="API key" isDone={isDone}>
      <p className="text-muted">
        A key is shown once, when it is created. Store it in an environment variable; the snippets below read
        it from there.
      </p>
      <CodeBlock code="export SANDBANK_API_KEY=sbk_sandbox_…" title="Shell" what="command" />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        {mayCreate ? (
          <Anchor
            to="keys"
            search={{ create: '1' }}
            className={buttonClass(isDone === false ? 'primary' : 'plain')}
          >
            {isDone ? 'Create another key' : 'Create a key'}
          </Anchor>
        ) : (
          <p className="text-muted">
            Your role cannot create keys; ask a developer of your organization for one.
          </p>
        )}
      </div>
    </Step>
  );
}
