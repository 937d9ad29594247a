#if PostgreSQL
    import Synchronization

    /// The keys of new rows that a store has reserved and has not given out yet, by the number of their root entity.
    ///
    /// A reservation is a transaction of its own: a round trip, and a commit that may wait for a standby. It therefore takes more keys
    /// than are asked for: none more at first, so that a store that inserts once wastes nothing, and then twice as many each time, up to
    /// ``largestSpare``. Keys that are left when the store is closed are lost.
    ///
    /// Nobody else is given the keys, because the row of the root entity in `Z_PRIMARYKEY` is past them. That row may go back to an
    /// earlier state: a standby without the last commits is promoted, or a backup is restored. Connections are lost then, so that the
    /// keys are dropped with every new connection (``drop()``). If another process has used a key nevertheless, the primary key of the
    /// table refuses the row, and the store drops the keys.
    final class KeyBlocks: Sendable {
        private struct Block {
            /// The ranges that are left, in the order in which they were reserved. Threads that reserve at the same time get one each.
            var ranges: [Range<Int64>] = []
            /// How many keys the next reservation takes besides those that are asked for.
            var spare: Int64 = 0

            mutating func take(_ count: Int64) -> ClosedRange<Int64>? {
                guard let index = ranges.firstIndex(where: { $0.upperBound - $0.lowerBound >= count }) else {
                    return nil
                }
                let end = ranges[index].lowerBound + count
                defer {
                    ranges[index] = end..<ranges[index].upperBound
                    if ranges[index].isEmpty { ranges.remove(at: index) }
                }
                return ranges[index].lowerBound...(end - 1)
            }

            /// Adds reserved keys. Mostly nobody else has reserved any since: then they continue those that are left.
            mutating func add(_ keys: Range<Int64>) {
                if let last = ranges.last, last.upperBound == keys.lowerBound {
                    ranges[ranges.count - 1] = last.lowerBound..<keys.upperBound
                } else {
                    ranges.append(keys)
                    if ranges.count > KeyBlocks.rangeLimit { ranges.removeFirst() }
                }
            }
        }

        static let largestSpare: Int64 = 255
        /// Ranges that are too short for the sizes of a program's saves would otherwise accumulate.
        fileprivate static let rangeLimit = 64

        private struct State {
            var blocks: [Int64: Block] = [:]
            var dropCount = 0

            /// - Returns: False if the keys must not be kept.
            mutating func add(_ reserved: ClosedRange<Int64>, _ number: Int64, _ dropCount: Int) -> Bool {
                // No key can follow the last one that there is.
                guard self.dropCount == dropCount, reserved.upperBound < .max else { return false }
                var block = blocks.removeValue(forKey: number) ?? Block()
                block.spare = min(block.spare * 2 + 1, KeyBlocks.largestSpare)
                block.add(reserved.lowerBound..<(reserved.upperBound + 1))
                blocks[number] = block
                return true
            }
        }

        private let state = Mutex(State())

        /// A number that changes when all keys are dropped.
        var dropCount: Int { state.withLock { $0.dropCount } }

        /// Gives out consecutive keys; nil if not so many are left.
        func take(_ count: Int64, ofRoot number: Int64) -> ClosedRange<Int64>? {
            state.withLock { $0.blocks[number]?.take(count) }
        }

        /// How many keys to reserve for a number of them.
        func amount(for count: Int64, ofRoot number: Int64) -> Int64 {
            let (amount, overflows) = count.addingReportingOverflow(state.withLock { $0.blocks[number]?.spare ?? 0 })
            return overflows ? count : amount
        }

        /// Whether so many consecutive keys are left.
        func holds(_ count: Int64, ofRoot number: Int64) -> Bool {
            state.withLock { $0.blocks[number]?.ranges.contains { $0.upperBound - $0.lowerBound >= count } ?? false }
        }

        /// Gives out keys, after a reservation for them.
        ///
        /// - Parameter dropCount: The number of drops before the reservation. If there was another one since, the others are not kept.
        func take(
            _ count: Int64, from reserved: ClosedRange<Int64>, ofRoot number: Int64, dropCount: Int
        ) -> ClosedRange<Int64> {
            let own = reserved.lowerBound...(reserved.lowerBound + count - 1)
            return state.withLock { $0.add(reserved, number, dropCount) ? $0.blocks[number]?.take(count) ?? own : own }
        }

        /// Keeps all keys of a reservation.
        func add(_ reserved: ClosedRange<Int64>, ofRoot number: Int64, dropCount: Int) {
            state.withLock { _ = $0.add(reserved, number, dropCount) }
        }

        /// Drops the ranges with a used key that was not given out: an object may be inserted with a key of its own.
        func drop(rangesWith keys: some Collection<Int64>, ofRoot number: Int64) {
            state.withLock { state in
                guard state.blocks[number]?.ranges.isEmpty == false, let first = keys.min(), let last = keys.max()
                else { return }
                state.blocks[number]?.ranges.removeAll { range in
                    range.lowerBound <= last && range.upperBound > first && keys.contains(where: range.contains)
                }
            }
        }

        /// Drops all keys.
        func drop() {
            state.withLock { state in
                state.blocks.removeAll()
                state.dropCount += 1
            }
        }
    }
#endif
