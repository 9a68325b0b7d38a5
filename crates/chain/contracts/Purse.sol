// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

interface Token {
    function balanceOf(address of_) external view returns (uint256);
    function allowance(address of_, address spender) external view returns (uint256);
}

interface Router {
    struct ExactInputSingleParams {
        address tokenIn;
        address tokenOut;
        uint24 fee;
        address recipient;
        uint256 deadline;
        uint256 amountIn;
        uint256 amountOutMinimum;
        uint160 sqrtPriceLimitX96;
    }

    struct ExactOutputSingleParams {
        address tokenIn;
        address tokenOut;
        uint24 fee;
        address recipient;
        uint256 deadline;
        uint256 amountOut;
        uint256 amountInMaximum;
        uint160 sqrtPriceLimitX96;
    }

    function exactInputSingle(ExactInputSingleParams calldata params) external payable returns (uint256);
    function exactOutputSingle(ExactOutputSingleParams calldata params) external payable returns (uint256);
}

interface Pool {
    function mint(address recipient, int24 lower, int24 upper, uint128 amount, bytes calldata data)
        external
        returns (uint256, uint256);
    function burn(int24 lower, int24 upper, uint128 amount) external returns (uint256, uint256);
    function collect(address recipient, int24 lower, int24 upper, uint128 most0, uint128 most1)
        external
        returns (uint128, uint128);
    function positions(bytes32 name) external view returns (uint128, uint256, uint256, uint128, uint128);
}

/// An owner's money, and what the key of a golem may do with it: exchange two tokens for each other in one pool, or give the
/// pool liquidity in one range of prices, so much within any 24 hours, until a date. Whatever comes of it stays here or goes to
/// the owner. There is no other way out for the key, whoever holds it.
contract Purse {
    /// How much of one token may leave. What is there at once is half of a day's; the other half comes back over 24 hours. So no
    /// 24 hours see more than `aDay` leave, wherever they begin.
    struct Allowance {
        uint256 aDay;
        uint256 left;
        uint64 since;
    }

    address public immutable owner;
    address public immutable money;
    address public immutable thing;
    uint24 public immutable fee;
    Router public immutable router;
    Pool public immutable pool;

    /// Who may spend, and when that ends.
    address public key;
    uint64 public until;
    bool public frozen;
    mapping(address => Allowance) public allowances;
    /// What was asked for once is never done again, whatever is sent.
    mapping(bytes32 => bool) public done;
    /// Where liquidity may be given, as the pool counts prices; nowhere, unless the owner says where.
    int24 public lower;
    int24 public upper;
    bool private inside;

    event Exchanged(bytes32 indexed id, bool bought, uint256 paid, uint256 got);
    event Keyed(address key, uint64 until);
    event Frozen(bool frozen);
    event Swept(address token, uint256 amount);

    error NotYours();
    error Over();
    error IsFrozen();
    error Late();
    error Again();
    error TooMuch(uint256 asked, uint256 left);
    error TooLittle(uint256 got, uint256 least);
    error Nothing();
    error TokenFailed();
    error WithinItself();
    error NoRange();

    constructor(address owner_, address money_, address thing_, uint24 fee_, Router router_, Pool pool_) {
        (owner, money, thing, fee, router, pool) = (owner_, money_, thing_, fee_, router_, pool_);
    }

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotYours();
        _;
    }

    modifier onlyKey() {
        if (msg.sender != key) revert NotYours();
        _;
    }

    /// Somebody else's token must not come back in while something is under way.
    modifier once() {
        if (inside) revert WithinItself();
        inside = true;
        _;
        inside = false;
    }

    // What the key may do.

    /// Exactly so much of the thing, for `most` of the money at most.
    function buy(bytes32 id, uint256 units, uint256 most, uint256 deadline) external onlyKey once {
        begin(id, deadline, units, most);
        take(money, most);
        (uint256 money0, uint256 thing0) = balances();
        exchangeFor(units, most);
        (uint256 money1, uint256 thing1) = balances();
        uint256 paid = money0 - money1;
        if (thing1 < thing0 + units) revert TooLittle(thing1 - thing0, units);
        // What was not needed may be spent another time.
        allowances[money].left += most - paid;
        emit Exchanged(id, true, paid, thing1 - thing0);
    }

    /// Exactly so much of the thing given up, for `least` of the money at least.
    function sell(bytes32 id, uint256 units, uint256 least, uint256 deadline) external onlyKey once {
        begin(id, deadline, units, least);
        take(thing, units);
        (uint256 money0, uint256 thing0) = balances();
        exchange(units);
        (uint256 money1, uint256 thing1) = balances();
        if (money1 < money0 + least) revert TooLittle(money1 - money0, least);
        emit Exchanged(id, false, thing0 - thing1, money1 - money0);
    }

    /// Exactly so much liquidity, for `most` of the money at most: `units` of the thing are bought, both are given to the pool,
    /// and what the pool did not want of the thing is sold again.
    function provide(bytes32 id, uint128 amount, uint256 units, uint256 most, uint256 deadline)
        external
        onlyKey
        once
        returns (uint256 paid)
    {
        begin(id, deadline, amount, most);
        if (lower == upper) revert NoRange();
        take(money, most);
        (uint256 money0, uint256 thing0) = balances();
        if (units > 0) exchangeFor(units, most);
        pool.mint(address(this), lower, upper, amount, "");
        (, uint256 thing1) = balances();
        // Only what was bought for it: what was there before is not part of this.
        if (thing1 < thing0) revert TooLittle(units, units + thing0 - thing1);
        if (thing1 > thing0) exchange(thing1 - thing0);
        (uint256 money1,) = balances();
        paid = money0 > money1 ? money0 - money1 : 0;
        if (paid > most) revert TooMuch(paid, most);
        allowances[money].left += most - paid;
        emit Exchanged(id, true, paid, amount);
    }

    /// Exactly so much liquidity given up, with all that it has earned, for `least` of the money at least.
    function withdraw(bytes32 id, uint128 amount, uint256 least, uint256 deadline)
        external
        onlyKey
        once
        returns (uint256 got)
    {
        begin(id, deadline, amount, least);
        (uint256 money0, uint256 thing0) = balances();
        bring(amount);
        (, uint256 thing1) = balances();
        if (thing1 > thing0) {
            take(thing, thing1 - thing0);
            exchange(thing1 - thing0);
        }
        (uint256 money1,) = balances();
        got = money1 - money0;
        if (got < least) revert TooLittle(got, least);
        emit Exchanged(id, false, amount, got);
    }

    /// All that is in the pool comes back here, as it is. At the end of a life, or when the owner says so.
    function bringIn() external once {
        if (msg.sender != key && msg.sender != owner) revert NotYours();
        bring(liquidity());
    }

    /// What the pool is owed for liquidity that was asked of it just now.
    function uniswapV3MintCallback(uint256 owed0, uint256 owed1, bytes calldata) external {
        if (msg.sender != address(pool) || !inside) revert NotYours();
        (address first, address second) = money < thing ? (money, thing) : (thing, money);
        if (owed0 > 0) pay(first, msg.sender, owed0);
        if (owed1 > 0) pay(second, msg.sender, owed1);
    }

    /// Everything of a token, to the owner. At the end of a life.
    function sendHome(address token) external onlyKey once {
        sweepOf(token);
    }

    /// The key gives itself up.
    function retire() external onlyKey {
        key = address(0);
        emit Keyed(address(0), 0);
    }

    // What its owner may do, without the golem, its host or anybody else.

    function setKey(address key_, uint64 until_) external onlyOwner {
        (key, until) = (key_, until_);
        emit Keyed(key_, until_);
    }

    function setAllowance(address token, uint256 aDay) external onlyOwner {
        Allowance storage one = allowances[token];
        // What has been spent stays spent: nobody gets two days at once by changing it.
        uint256 free = refilled(one);
        uint256 spent = one.aDay / 2 - free;
        one.left = aDay / 2 > spent ? aDay / 2 - spent : 0;
        (one.aDay, one.since) = (aDay, uint64(block.timestamp));
    }

    /// Where liquidity may be given from now on; nowhere, if both are the same. What is in the pool comes in first.
    function setRange(int24 lower_, int24 upper_) external onlyOwner once {
        if (liquidity() > 0) bring(liquidity());
        (lower, upper) = (lower_, upper_);
    }

    function freeze(bool frozen_) external onlyOwner {
        frozen = frozen_;
        emit Frozen(frozen_);
    }

    function sweep(address token) external onlyOwner once {
        sweepOf(token);
    }

    /// What may leave now.
    function left(address token) external view returns (uint256) {
        return frozen || block.timestamp >= until ? 0 : refilled(allowances[token]);
    }

    /// What is in the pool.
    function liquidity() public view returns (uint128 there) {
        (there,,,,) = pool.positions(keccak256(abi.encodePacked(address(this), lower, upper)));
    }

    // How.

    function begin(bytes32 id, uint256 deadline, uint256 units, uint256 bound) private {
        if (frozen) revert IsFrozen();
        if (block.timestamp >= until) revert Over();
        if (block.timestamp > deadline) revert Late();
        if (done[id]) revert Again();
        if (units == 0 || bound == 0) revert Nothing();
        done[id] = true;
    }

    function take(address token, uint256 amount) private {
        Allowance storage one = allowances[token];
        uint256 free = refilled(one);
        if (amount > free) revert TooMuch(amount, free);
        (one.left, one.since) = (free - amount, uint64(block.timestamp));
    }

    function refilled(Allowance storage one) private view returns (uint256) {
        uint256 half = one.aDay / 2;
        uint256 back = half * (block.timestamp - one.since) / 1 days;
        return one.left + back > half ? half : one.left + back;
    }

    function balances() private view returns (uint256, uint256) {
        return (Token(money).balanceOf(address(this)), Token(thing).balanceOf(address(this)));
    }

    function approve(address token, uint256 amount) private {
        tell(token, abi.encodeWithSignature("approve(address,uint256)", address(router), amount));
    }

    /// So much of the thing, for at most so much money; exactly that is approved, and nothing of it stays so.
    function exchangeFor(uint256 units, uint256 most) private {
        approve(money, most);
        router.exactOutputSingle(
            Router.ExactOutputSingleParams(money, thing, fee, address(this), block.timestamp, units, most, 0)
        );
        if (Token(money).allowance(address(this), address(router)) != 0) approve(money, 0);
    }

    /// So much of the thing given up; whoever asks for it looks at what came in.
    function exchange(uint256 units) private {
        approve(thing, units);
        router.exactInputSingle(
            Router.ExactInputSingleParams(thing, money, fee, address(this), block.timestamp, units, 0, 0)
        );
        if (Token(thing).allowance(address(this), address(router)) != 0) approve(thing, 0);
    }

    /// So much liquidity comes back, with everything that it has earned.
    function bring(uint128 amount) private {
        if (lower == upper) return;
        if (amount > 0) pool.burn(lower, upper, amount);
        pool.collect(address(this), lower, upper, type(uint128).max, type(uint128).max);
    }

    function sweepOf(address token) private {
        uint256 all = Token(token).balanceOf(address(this));
        if (all > 0) pay(token, owner, all);
        emit Swept(token, all);
    }

    function pay(address token, address to, uint256 amount) private {
        tell(token, abi.encodeWithSignature("transfer(address,uint256)", to, amount));
    }

    /// Some tokens say nothing when they have done what they were told.
    function tell(address token, bytes memory what) private {
        (bool fine, bytes memory said) = token.call(what);
        if (!fine || token.code.length == 0 || (said.length > 0 && !abi.decode(said, (bool)))) revert TokenFailed();
    }
}
