/// The functions of the language, by Apple's selectors.
enum KnownFunction: String, CaseIterable {
    // Functions of a collection.
    case sum = "sum:"
    case count = "count:"
    case min = "min:"
    case max = "max:"
    case average = "average:"
    case median = "median:"
    case mode = "mode:"
    case standardDeviation = "stddev:"
    case distinct = "distinct:"
    // Functions of numbers.
    case add = "add:to:"
    case subtract = "from:subtract:"
    case multiply = "multiply:by:"
    case divide = "divide:by:"
    case modulus = "modulus:by:"
    case power = "raise:toPower:"
    case squareRoot = "sqrt:"
    case logarithm = "log:"
    case naturalLogarithm = "ln:"
    case exponential = "exp:"
    case floor = "floor:"
    case ceiling = "ceiling:"
    case absolute = "abs:"
    case truncate = "trunc:"
    case changeSign = "chs:"
    case bitwiseAnd = "bitwiseAnd:with:"
    case bitwiseOr = "bitwiseOr:with:"
    case bitwiseXor = "bitwiseXor:with:"
    case leftShift = "leftshift:by:"
    case rightShift = "rightshift:by:"
    case onesComplement = "onesComplement:"
    case random = "random"
    case randomBelow = "random:"
    // Functions of strings.
    case uppercase = "uppercase:"
    case lowercase = "lowercase:"
    case canonical = "canonical:"
    case length = "length:"
    // Other functions.
    case now = "now"
    case cast = "castObject:toType:"
    case element = "objectFrom:withIndex:"
    case noIndex = "noindex:"
    case indexed = "indexed:by:"
    case distance = "distanceToLocation:fromLocation:"

    /// The number of arguments that the function takes.
    var argumentCount: Int {
        rawValue.count { $0 == ":" }
    }

    /// Whether the function takes one collection; several arguments are treated as its elements.
    var takesCollection: Bool {
        switch self {
        case .sum, .count, .min, .max, .average, .median, .mode, .standardDeviation, .distinct: true
        default: false
        }
    }

    /// The function of a selector such as `sum:`, or of its first word in any case, such as `MAX`, with a matching
    /// number of arguments. Nil when there is none.
    init?(name: String, argumentCount: Int) {
        let fits = { (function: KnownFunction) in
            function.argumentCount == argumentCount || function.takesCollection && argumentCount > 0
        }
        if name.contains(":") {
            guard let function = KnownFunction(rawValue: name), fits(function) else { return nil }
            self = function
        } else {
            let word = name.lowercased()
            let found = KnownFunction.allCases.first {
                ($0.rawValue.prefix { $0 != ":" }).lowercased() == word && fits($0)
            }
            guard let found else { return nil }
            self = found
        }
    }
}
