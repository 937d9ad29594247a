/// The versions of Core Data whose stores the command has been tried on.
///
/// Core Data writes the version of its framework into the metadata of a store (`NSPersistenceFrameworkVersion`). It rises
/// with each release of Apple's systems. The tests open a store of each version and compare its values with SQLite's.
enum TriedStores {
    /// In ascending order. A store of a version in between is no different from its neighbours as far as is known; one of
    /// a later version may have tables or columns that nobody has seen.
    static let frameworkVersions = [
        230, 241, 419, 637, 847, 866, 973, 1044, 1048, 1251, 1333, 1338, 1344, 1345, 1403, 1414,
    ]

    private static let first = frameworkVersions[0]
    private static let last = frameworkVersions[frameworkVersions.count - 1]

    /// The second line of `coral --version`.
    static let sentence = "Tried on stores that Core Data's framework versions \(first) to \(last) wrote."

    /// The version for people, with a remark if the stores of that time were not tried.
    static func description(ofVersion version: Int) -> String {
        if version > last { return "\(version), later than \(last), the latest that coral was tried on" }
        if version < first { return "\(version), earlier than \(first), the earliest that coral was tried on" }
        return "\(version)"
    }
}
