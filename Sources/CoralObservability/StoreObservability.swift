#if Observability
    import CoreMetrics
    import Foundation
    import Logging
    import ServiceContextModule
    import StoreSupport
    import Tracing

    // Statements are reported by their text, never with their values: logs and traces leave the machine.

    /// Reports the work of all stores of a process to swift-log, swift-metrics and swift-distributed-tracing.
    ///
    ///     StoreObservability(logger: logger, slowStatement: .milliseconds(100)).start()
    ///
    /// Start it after the systems are bootstrapped, and before stores are added: a store reports the statements of connections that
    /// are opened afterwards.
    ///
    /// | Metric | Type | What is recorded |
    /// | --- | --- | --- |
    /// | `coral.requests`, `coral.saves`, `coral.fetches`, `coral.statements` | timer | the time of each |
    /// | `coral.waits` | timer | the time in the queue of a ``ContextPool``, or for a connection to a server |
    /// | `coral.rows` | counter | the results of fetches |
    /// | `coral.conflicts`, `coral.retries`, `coral.errors` | counter | conflicts of saves, repeated transactions, failed work |
    /// | `coral.pool.running`, `coral.pool.waiting` | meter | the requests of a ``ContextPool`` |
    ///
    /// Each request, fetch, save, statement and wait is a span, whose parent is the span of the task. The work of a pool has the span
    /// of the task that has called it.
    public struct StoreObservability: Sendable {
        private let logger: Logger
        private let slowStatement: Duration
        private let tracer: (any Tracer)?
        private let metrics: StoreMetrics

        /// - Parameters:
        ///   - logger: Gets slow statements and failed work.
        ///   - slowStatement: The time from which on a statement is logged.
        ///   - metrics: The factory of the metrics.
        ///   - tracer: The tracer of the spans; nil for none. Statements are spans too, so a request may have hundreds.
        public init(
            logger: Logger, slowStatement: Duration = .milliseconds(500),
            metrics: any MetricsFactory = MetricsSystem.factory,
            tracer: (any Tracer)? = InstrumentationSystem.tracer
        ) {
            (self.logger, self.slowStatement) = (logger, slowStatement)
            // Without a tracer of the process, spans would be made for nobody.
            self.tracer = tracer is NoOpTracer ? nil : tracer
            self.metrics = StoreMetrics(metrics)
        }

        /// Observes the stores of the process. A process has one observer: this ends an earlier one.
        public func start() { StoreObservation.setObserver(self) }

        /// Ends the observation.
        public static func stop() { StoreObservation.setObserver(nil) }
    }

    extension StoreObservability: StoreObserver {
        package func request() -> (any Sendable)? { ServiceContext.current }

        package func didEnd(_ activity: ReportedWork, subject: () -> String) {
            metrics.record(activity)
            let isLogged = isLogged(activity)
            guard tracer != nil || isLogged else { return }
            let context = activity.request as? ServiceContext ?? .topLevel
            if let tracer { trace(activity, subject, tracer, context) }
            if isLogged {
                // With the context, so that the logger's provider adds the metadata of the request.
                ServiceContext.withValue(context) { log(activity, subject) }
            }
        }

        package func poolDidChange(running: Int, waiting: Int) {
            metrics.recordPool(running: running, waiting: waiting)
        }

        private func trace(
            _ activity: ReportedWork, _ subject: () -> String, _ tracer: any Tracer, _ context: ServiceContext
        ) {
            guard activity.kind != .conflict, activity.kind != .retry else { return }
            let end = DefaultTracerClock.now.nanosecondsSinceEpoch
            let start = Instant(nanosecondsSinceEpoch: end &- UInt64(activity.duration.nanoseconds))
            let span = tracer.startSpan("coral.\(activity.kind)", context: context, ofKind: .client, at: start)
            switch activity.kind {
            case .statement: span.attributes["db.query.text"] = subject()
            case .fetch:
                span.attributes["coral.entity"] = subject()
                span.attributes["db.response.returned_rows"] = activity.count
            case .save: span.attributes["coral.objects"] = activity.count
            default: break
            }
            if let error = activity.error { span.recordError(ReportedError(error)) }
            span.end(at: Instant(nanosecondsSinceEpoch: end))
        }

        /// Whether an activity is worth a message. Most are not: their message is not composed.
        private func isLogged(_ activity: ReportedWork) -> Bool {
            switch activity.kind {
            case .statement: activity.duration >= slowStatement || activity.error != nil
            case .conflict: logger.logLevel <= .debug
            case .retry: logger.logLevel <= .info
            default: activity.error != nil
            }
        }

        private func log(_ activity: ReportedWork, _ subject: () -> String) {
            var metadata: Logger.Metadata = ["duration": "\(activity.duration)"]
            if let name = ServiceContext.current?.storeRequest { metadata["request"] = "\(name)" }
            switch activity.kind {
            case .statement where activity.duration >= slowStatement:
                metadata["statement"] = "\(subject())"
                logger.warning("A statement was slow.", metadata: metadata)
            case .conflict:
                logger.debug("A save has conflicts.", metadata: ["conflicts": "\(activity.count)"])
            case .retry:
                logger.info("A transaction is repeated.", metadata: ["state": "\(subject())"])
            default:
                guard let error = activity.error else { return }
                metadata["error"] = "\(ReportedError(error))"
                logger.notice("A \(activity.kind) has failed.", metadata: metadata)
            }
        }
    }

    /// The domain and the code of an error, whose text may contain values.
    private struct ReportedError: Error, CustomStringConvertible {
        let description: String

        init(_ error: any Error) {
            let error = error as NSError
            description = "\(error.domain) \(error.code)"
        }
    }

    /// A point in time that is computed from a duration.
    private struct Instant: TracerInstant {
        let nanosecondsSinceEpoch: UInt64

        static func < (left: Self, right: Self) -> Bool { left.nanosecondsSinceEpoch < right.nanosecondsSinceEpoch }
    }

    extension Duration {
        fileprivate var nanoseconds: Int64 {
            max(0, components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000)
        }
    }

    extension ServiceContext {
        private enum RequestKey: ServiceContextKey {
            typealias Value = String
        }

        /// The name of the request with which slow statements are logged, such as a path and an identifier.
        ///
        ///     var context = ServiceContext.current ?? .topLevel
        ///     context.storeRequest = "GET /notes"
        ///     try await ServiceContext.withValue(context) { try await pool.withContext { … } }
        public var storeRequest: String? {
            get { self[RequestKey.self] }
            set { self[RequestKey.self] = newValue }
        }
    }

    /// The metrics of the stores, each created once.
    private struct StoreMetrics: Sendable {
        private let requests, saves, fetches, statements, waits: CoreMetrics.Timer
        private let rows, conflicts, retries, errors: Counter
        private let running, waiting: Meter

        init(_ factory: any MetricsFactory) {
            func timer(_ name: String) -> CoreMetrics.Timer {
                CoreMetrics.Timer(label: "coral.\(name)", dimensions: [], factory: factory)
            }
            func counter(_ name: String) -> Counter {
                Counter(label: "coral.\(name)", dimensions: [], factory: factory)
            }
            func meter(_ name: String) -> Meter { Meter(label: "coral.pool.\(name)", dimensions: [], factory: factory) }
            (requests, saves, fetches) = (timer("requests"), timer("saves"), timer("fetches"))
            (statements, waits) = (timer("statements"), timer("waits"))
            (rows, conflicts) = (counter("rows"), counter("conflicts"))
            (retries, errors) = (counter("retries"), counter("errors"))
            (running, waiting) = (meter("running"), meter("waiting"))
        }

        func record(_ activity: ReportedWork) {
            if activity.error != nil { errors.increment() }
            let timer: CoreMetrics.Timer
            switch activity.kind {
            case .conflict: return conflicts.increment(by: activity.count)
            case .retry: return retries.increment()
            case .request: timer = requests
            case .wait: timer = waits
            case .save: timer = saves
            case .statement: timer = statements
            case .fetch:
                rows.increment(by: activity.count)
                timer = fetches
            }
            timer.recordNanoseconds(activity.duration.nanoseconds)
        }

        func recordPool(running: Int, waiting: Int) {
            self.running.set(running)
            self.waiting.set(waiting)
        }
    }
#endif
