/// Prepared names, predicted from the preceding name.
///
/// Records of one entity have their members in the same order: the name that followed last time is compared first, and
/// another name is looked up.
struct JSONKeyCache {
    private var names: [String] = []
    private var keys: [JSONWriter.Key] = []
    private var successors: [Int] = []
    private var positions: [String: Int] = [:]
    private var previous = 0

    /// The prepared form of a name.
    mutating func key(_ name: String) throws -> JSONWriter.Key {
        if previous < successors.count {
            let guess = successors[previous]
            if guess < names.count, names[guess] == name {
                previous = guess
                return keys[guess]
            }
        }
        let position: Int
        if let known = positions[name] {
            position = known
        } else {
            position = names.count
            keys.append(try JSONWriter.Key(name))
            names.append(name)
            successors.append(0)
            positions[name] = position
        }
        if previous < successors.count { successors[previous] = position }
        previous = position
        return keys[position]
    }
}
