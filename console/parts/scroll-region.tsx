import { type ReactNode, useEffect, useRef, useState } from 'react';
import { classes } from './text.ts';

export interface ScrollRegionProps {
  readonly label: string;
  readonly className?: string;
  readonly isBusy?: boolean;
  /** Has content that sticks to the window: it scrolls sideways only while it is too wide, and then nothing sticks. */
  readonly hasStickyContent?: boolean;
  readonly children: ReactNode;
}

/** For content that may be wider than the page. It is a tab stop only while it scrolls. */
export function ScrollRegion({
  label,
  className,
  isBusy = false,
  hasStickyContent = false,
  children,
}: ScrollRegionProps) {
  const box = useRef<HTMLElement>(null);
  const isScrolled = useOverflow(box);
  return (
    <section
      ref={box}
      aria-label={label}
      {...(isScrolled ? { tabIndex: 0 } : {})}
      className={classes(
        'relative focus-visible:outline-offset-[-2px]',
        // What scrolls sideways is the box that content sticks to: with the distance of the window, it would cover the first row.
        hasStickyContent && !isScrolled ? 'overflow-x-clip' : 'overflow-x-auto [--sticky-top:0px]',
        isScrolled && 'scroll-edges [--cover:var(--surface)]',
        className,
      )}
      aria-busy={isBusy || undefined}
    >
      {children}
    </section>
  );
}

function useOverflow(box: React.RefObject<HTMLElement | null>): boolean {
  const [isOverflowing, setOverflowing] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const content = element.firstElementChild;
    // Without `overflow-x-auto` the width of the content is not that of the element's scroll area.
    const observer = new ResizeObserver(() => {
      const width = Math.max(element.scrollWidth, content?.scrollWidth ?? 0);
      setOverflowing(width > element.clientWidth + 1);
    });
    observer.observe(element);
    if (content) observer.observe(content);
    return () => observer.disconnect();
  });
  return isOverflowing;
}
