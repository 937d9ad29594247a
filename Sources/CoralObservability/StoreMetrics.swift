#if Observability
    import CoreMetrics
    import SQLiteConnections

    /// The metrics of the stores, each created once.
    struct StoreMetrics: Sendable {
        private let requests, saves, fetches, statements, waits: Timer
        private let rows, conflicts, retries, errors: Counter
        private let running, waiting: Meter

        init(_ factory: any MetricsFactory) {
            func timer(_ name: String) -> Timer { Timer(label: "coral.\(name)", dimensions: [], factory: factory) }
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
            let timer: Timer
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
