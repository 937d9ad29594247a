/// A map from temporary keys to the permanent ones that replace them.
///
/// Temporary numbers decrease by one from object to object, so most sets of them are a short range and an array is
/// used.
struct PermanentKeys {
    private var newest: Int64 = 0
    private var dense: ContiguousArray<ObjectKey?> = []
    private var sparse: [Int64: ObjectKey] = [:]

    init(_ pairs: [(temporary: Int64, permanent: ObjectKey)]) {
        guard let highest = pairs.map(\.temporary).max(), let lowest = pairs.map(\.temporary).min() else { return }
        if highest - lowest < Int64(pairs.count) * 4 + 64 {
            newest = highest
            dense = ContiguousArray(repeating: nil, count: Int(highest - lowest) + 1)
            for pair in pairs { dense[Int(highest - pair.temporary)] = pair.permanent }
        } else {
            sparse = Dictionary(pairs.map { ($0.temporary, $0.permanent) }, uniquingKeysWith: { $1 })
        }
    }

    func permanent(_ key: ObjectKey) -> ObjectKey {
        guard key.number < 0 else { return key }
        if dense.isEmpty { return sparse[key.number] ?? key }
        let index = newest - key.number
        guard index >= 0, index < dense.count else { return key }
        return dense[Int(index)] ?? key
    }
}
